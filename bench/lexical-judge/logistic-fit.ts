export type Example = { readonly features: readonly number[]; readonly supported: boolean; readonly weight: number };
export type Logistic = { readonly intercept: number; readonly weights: readonly number[] };

/**
 * Weighted logistic regression with an L2 penalty and a sign constraint for every weight (+1, -1; 0 = unconstrained),
 * by projected gradient descent with a fixed step; deterministic. A weight that the data pull to the wrong sign becomes
 * 0. The weights of the examples must sum to 1.
 */
export function fitLogistic(
  examples: readonly Example[],
  signs: readonly number[],
  l2: number,
  steps = 6000,
): Logistic {
  const weights = signs.map(() => 0);
  let intercept = 0;
  const rate = 2;
  for (let step = 0; step < steps; step++) {
    const gradient = weights.map((w) => w * l2);
    let interceptGradient = 0;
    for (const { features, supported, weight } of examples) {
      let z = intercept;
      for (let k = 0; k < weights.length; k++) z += (weights[k] ?? 0) * (features[k] ?? 0);
      const residual = weight * (1 / (1 + Math.exp(-z)) - (supported ? 1 : 0));
      interceptGradient += residual;
      for (let k = 0; k < weights.length; k++) gradient[k] = (gradient[k] ?? 0) + residual * (features[k] ?? 0);
    }
    intercept -= rate * interceptGradient;
    for (let k = 0; k < weights.length; k++) {
      const next = (weights[k] ?? 0) - rate * (gradient[k] ?? 0);
      const sign = signs[k] ?? 0;
      weights[k] = sign > 0 ? Math.max(0, next) : sign < 0 ? Math.min(0, next) : next;
    }
  }
  return { intercept, weights };
}
