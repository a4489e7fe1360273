package lostlock;

import java.util.List;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store.CloseableResource;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/** Starts a server, or a pair, for each test that has a parameter of that type. */
public final class LostlockExtension implements ParameterResolver {
  private static final Namespace NAMESPACE = Namespace.create(LostlockExtension.class);

  /** Stops what a test has started, when JUnit closes the test's store. */
  private static final class Started implements CloseableResource {
    final LostlockServer server;

    Started(LostlockServer server) {
      this.server = server;
    }

    @Override
    public void close() {
      server.close();
    }
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return LostlockServer.class.isAssignableFrom(parameter.getParameter().getType());
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    boolean isPair = parameter.getParameter().getType() == LostlockPair.class;
    List<String> flags = flags(context);
    return context
        .getStore(NAMESPACE)
        .getOrComputeIfAbsent(
            isPair ? "pair" : "server",
            key -> new Started(isPair ? LostlockPair.start(flags) : LostlockServer.start(flags)),
            Started.class)
        .server;
  }

  private static List<String> flags(ExtensionContext context) {
    return AnnotationSupport.findAnnotation(context.getElement(), Lostlock.class)
        .or(() -> AnnotationSupport.findAnnotation(context.getTestClass(), Lostlock.class))
        .map(annotation -> List.of(annotation.flags()))
        .orElse(List.of());
  }
}
