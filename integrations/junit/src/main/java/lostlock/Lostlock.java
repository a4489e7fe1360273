package lostlock;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives the tests of a class, or one test, a parameter of type {@link LostlockServer} or {@link LostlockPair}. Every test has
 * a server of its own, which stops after the test.
 */
@Target({ElementType.TYPE, ElementType.METHOD})
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(LostlockExtension.class)
public @interface Lostlock {
  /** Further flags, as {@code npx lostlock --help} lists them. */
  String[] flags() default {};
}
