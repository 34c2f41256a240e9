/** The Adam optimizer (Kingma and Ba 2015, arXiv:1412.6980, algorithm 1), for maximizing. */

export type AdamOptions = {
  readonly learningRate: number;
  /** Decay of the mean of the gradient, in [0, 1). */
  readonly beta1: number;
  /** Decay of the mean of the squared gradient, in [0, 1). */
  readonly beta2: number;
  readonly epsilon: number;
};

export class Adam {
  readonly #options: AdamOptions;
  readonly #means: number[];
  readonly #squares: number[];
  /** `beta1` and `beta2` to the power of the steps taken. */
  #decay1 = 1;
  #decay2 = 1;

  /** @param size number of parameters. */
  constructor(size: number, options: AdamOptions) {
    this.#options = options;
    this.#means = Array.from({ length: size }, () => 0);
    this.#squares = Array.from({ length: size }, () => 0);
  }

  /** The change of each parameter for this gradient; add it to climb. */
  step(gradient: readonly number[]): number[] {
    const { learningRate, beta1, beta2, epsilon } = this.#options;
    this.#decay1 *= beta1;
    this.#decay2 *= beta2;
    return gradient.map((slope, n) => {
      const mean = beta1 * (this.#means[n] ?? 0) + (1 - beta1) * slope;
      const square = beta2 * (this.#squares[n] ?? 0) + (1 - beta2) * slope * slope;
      this.#means[n] = mean;
      this.#squares[n] = square;
      return (learningRate * (mean / (1 - this.#decay1))) / (Math.sqrt(square / (1 - this.#decay2)) + epsilon);
    });
  }
}
