/** The parts of a vector set: its shape, and an element with its vector and its links. */
import type { Bytes } from '../../protocol/bytes.ts';
import type { Projection } from './projection.ts';
import type { Quantization, Stored } from './quantization.ts';

/** What a set is made with, and keeps. */
export interface VectorSetShape {
  /** The number of components of the vectors that it stores. */
  readonly dimension: number;
  readonly quantization: Quantization;
  /** M of the HNSW paper: how many links a new element gets (https://arxiv.org/abs/1603.09320). */
  readonly links: number;
  /** What turns the vectors that it is given into those that it stores. */
  readonly projection?: Projection | undefined;
}

/** An element of a vector set with its stored vector. */
export interface VectorNode extends Stored {
  /** Grows with every vector that the set is given. Links in RDB name it. */
  readonly id: number;
  readonly element: Bytes;
  /** JSON, which FILTER reads; undefined when there is none. */
  attributes: Bytes | undefined;
  /**
   * The elements that it is linked with on each layer, the lowest first. Links go both ways. undefined until links are
   * asked for.
   */
  layers: VectorNode[][] | undefined;
}
