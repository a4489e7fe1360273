package lostlock;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives the tests of a class, or one test, a parameter of type {@link LostlockServer} or {@link LostlockPair}. Every test has
 * a server of its own, which stops after the test. A parameter of the constructor is the same server. With
 * {@code @TestInstance(PER_CLASS)} the constructor runs once, and its server serves all tests of the class.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(LostlockExtension.class)
public @interface Lostlock {
  /** Further flags, as {@code npx lostlock --help} lists them. */
  String[] flags() default {};

  /**
   * The words of the command that starts lostlock, such as {@code "/opt/lostlock"}. By default the system property
   * {@code lostlock.command}, then the environment variable {@code LOSTLOCK}, then {@code npx --no -- lostlock}.
   */
  String[] command() default {};
}
