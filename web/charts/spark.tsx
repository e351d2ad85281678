/** Sparkline without axes; the text next to it describes the values */
import { toNumberOrUndefined } from './reduce.ts';

export const Sparkline = ({ values }: { readonly values: readonly unknown[] }) => {
  const numbers = values.map(toNumberOrUndefined);
  const definedNumbers = numbers.filter((value) => value !== undefined);
  if (definedNumbers.length < 2) return null;
  const [low, high] = [Math.min(...definedNumbers), Math.max(...definedNumbers)];
  const points = numbers.flatMap((value, at) =>
    value === undefined ? [] : [`${at},${(30 - ((value - low) / (high - low || 1)) * 28).toFixed(1)}`],
  );
  return (
    <svg class="spark" viewBox={`0 0 ${numbers.length - 1} 32`} preserveAspectRatio="none" aria-hidden="true">
      <polyline points={points.join(' ')} />
    </svg>
  );
};
