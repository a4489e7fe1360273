package lostlock;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store.CloseableResource;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.api.extension.TestInstancePostProcessor;
import org.junit.jupiter.api.extension.TestInstancePreDestroyCallback;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * Starts a server, or a pair, for each test that has a parameter of that type. A constructor runs before its test has a store,
 * so what it is given is kept here, first for its thread and then for the instance that it has made.
 */
public final class LostlockExtension
    implements ParameterResolver, TestInstancePostProcessor, TestInstancePreDestroyCallback {
  private static final Namespace NAMESPACE = Namespace.create(LostlockExtension.class);

  /** The servers of one test. JUnit closes them with the store that they are in; 5.13 and later ask for both interfaces. */
  private static final class Started implements CloseableResource, AutoCloseable {
    private LostlockServer server;
    private LostlockPair pair;

    LostlockServer get(boolean isPair, ExtensionContext context) {
      if (isPair) return pair = pair != null ? pair : LostlockPair.start(command(context), flags(context));
      return server = server != null ? server : LostlockServer.start(command(context), flags(context));
    }

    @Override
    public void close() {
      if (server != null) server.close();
      if (pair != null) pair.close();
      server = null;
      pair = null;
    }
  }

  /** The servers of instances, and of those that are being made. It closes what failed constructors have left. */
  private static final class Instances implements CloseableResource, AutoCloseable {
    private final Map<Object, Started> made = new IdentityHashMap<>();
    private final Map<Thread, Started> making = new IdentityHashMap<>();

    synchronized Started making() {
      return making.computeIfAbsent(Thread.currentThread(), thread -> new Started());
    }

    synchronized void made(Object instance) {
      Started started = making.remove(Thread.currentThread());
      if (started != null) made.put(instance, started);
    }

    synchronized Optional<Started> of(Object instance) {
      return Optional.ofNullable(made.get(instance));
    }

    void end(Object instance) {
      Started started;
      synchronized (this) {
        started = made.remove(instance);
      }
      if (started != null) started.close();
    }

    @Override
    public void close() {
      List<Started> left;
      synchronized (this) {
        left = new ArrayList<>(made.values());
        left.addAll(making.values());
      }
      left.forEach(Started::close);
    }
  }

  private static Instances instances(ExtensionContext context) {
    return context
        .getRoot()
        .getStore(NAMESPACE)
        .getOrComputeIfAbsent(Instances.class, key -> new Instances(), Instances.class);
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return LostlockServer.class.isAssignableFrom(parameter.getParameter().getType());
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    boolean isPair = parameter.getParameter().getType() == LostlockPair.class;
    boolean isConstructor =
        parameter.getDeclaringExecutable() instanceof java.lang.reflect.Constructor;
    return (isConstructor ? instances(context).making() : ofTest(context)).get(isPair, context);
  }

  /** What the test's instance was given, else what the test has. */
  private static Started ofTest(ExtensionContext context) {
    return context
        .getTestInstance()
        .flatMap(instance -> instances(context).of(instance))
        .orElseGet(
            () ->
                context
                    .getStore(NAMESPACE)
                    .getOrComputeIfAbsent(Started.class, key -> new Started(), Started.class));
  }

  @Override
  public void postProcessTestInstance(Object instance, ExtensionContext context) {
    instances(context).made(instance);
  }

  @Override
  public void preDestroyTestInstance(ExtensionContext context) {
    TestInstancePreDestroyCallback.preDestroyTestInstances(context, instances(context)::end);
  }

  private static List<String> flags(ExtensionContext context) {
    return annotation(context).map(Lostlock::flags).map(List::of).orElse(List.of());
  }

  private static List<String> command(ExtensionContext context) {
    return annotation(context)
        .map(Lostlock::command)
        .filter(words -> words.length > 0)
        .map(List::of)
        .orElseGet(LostlockServer::command);
  }

  private static Optional<Lostlock> annotation(ExtensionContext context) {
    return AnnotationSupport.findAnnotation(context.getElement(), Lostlock.class)
        .or(() -> AnnotationSupport.findAnnotation(context.getTestClass(), Lostlock.class));
  }
}
