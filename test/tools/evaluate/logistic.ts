/** One observation. */
export interface Row {
  readonly values: readonly number[];
  readonly isPositive: boolean;
}

/** Log odds of a positive: `intercept` + Σ slopeᵢ·valueᵢ. */
export interface LogisticModel {
  readonly slopes: readonly number[];
  readonly intercept: number;
}

const MAX_STEPS = 30;
const MAX_CHANGE = 2;
/** A small penalty on the slopes keeps them finite if the rows can be separated. */
const RIDGE = 1;

/** Fits a logistic regression by Newton's method, with steps of bounded length. */
export function fitLogistic(rows: readonly Row[]): LogisticModel {
  const count = (rows[0]?.values.length ?? 0) + 1;
  let model = new Array<number>(count).fill(0);
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const gradient = model.map((value, i) => (i + 1 < count ? RIDGE * value : 0));
    const curvature: readonly number[][] = model.map((_, i) =>
      model.map((_, k) => (i === k ? (i + 1 < count ? RIDGE : 1e-9) : 0)),
    );
    for (const { values, isPositive } of rows) {
      const inputs = [...values, 1];
      const chance = 1 / (1 + Math.exp(-dot(model, inputs)));
      for (const [i, input] of inputs.entries()) {
        gradient[i] = (gradient[i] ?? 0) + (chance - (isPositive ? 1 : 0)) * input;
        const row = curvature[i] ?? [];
        for (const [k, other] of inputs.entries())
          row[k] = (row[k] ?? 0) + chance * (1 - chance) * input * other;
      }
    }
    const change = solve(curvature, gradient).map((value) =>
      Math.max(-MAX_CHANGE, Math.min(MAX_CHANGE, value)),
    );
    model = model.map((value, i) => value - (change[i] ?? 0));
    if (change.every((value) => Math.abs(value) < 1e-6)) break;
  }
  return { slopes: model.slice(0, -1), intercept: model.at(-1) ?? 0 };
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
}

/** Solves a symmetric positive definite system by Gaussian elimination. */
function solve(matrix: readonly (readonly number[])[], vector: readonly number[]): readonly number[] {
  const rows = matrix.map((row, i) => [...row, vector[i] ?? 0]);
  for (const [i, pivot] of rows.entries()) {
    for (const row of rows.slice(i + 1)) {
      const factor = (row[i] ?? 0) / (pivot[i] ?? 1);
      for (let k = i; k < row.length; k += 1) row[k] = (row[k] ?? 0) - factor * (pivot[k] ?? 0);
    }
  }
  const solution = new Array<number>(rows.length).fill(0);
  for (let i = rows.length - 1; i >= 0; i -= 1) {
    const row = rows[i] ?? [];
    solution[i] = ((row[rows.length] ?? 0) - dot(solution, row.slice(0, rows.length))) / (row[i] ?? 1);
  }
  return solution;
}
