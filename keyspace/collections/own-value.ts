/** A value of a type that a user's commands define: the server keeps its bytes, and only those commands can read them. */
import type { Bytes } from '../../protocol/bytes.ts';

/** It never changes: a command that writes stores another one. */
export class OwnValue {
  readonly type = 'own';
  /** The word that TYPE reports. */
  readonly word: Bytes;
  /** The value in the form that its commands give it. */
  readonly data: Bytes;

  constructor(word: Bytes, data: Bytes) {
    this.word = word;
    this.data = data;
  }

  /** How OBJECT ENCODING calls the value of a module. */
  encoding(): 'raw' {
    return 'raw';
  }

  copy(): OwnValue {
    return this;
  }
}
