/** Sparkline without axes; adjacent text describes it */
import { numberOf } from './reduce.ts';

export const Spark = ({ values }: { readonly values: readonly unknown[] }) => {
  const numbers = values.map(numberOf);
  const known = numbers.filter((value) => value !== undefined);
  if (known.length < 2) return null;
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const points = numbers.flatMap((value, at) =>
    value === undefined ? [] : [`${at},${(30 - ((value - low) / (high - low || 1)) * 28).toFixed(1)}`],
  );
  return (
    <svg class="spark" viewBox={`0 0 ${numbers.length - 1} 32`} preserveAspectRatio="none" aria-hidden="true">
      <polyline points={points.join(' ')} />
    </svg>
  );
};
