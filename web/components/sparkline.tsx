/** Trend without axes. The text next to it has its values; a broken line marks missing ones. */

const height = 32;
const stroke = 2;

/** Returns the path of a line through the values, with gaps where they are missing. */
export const toSparklinePath = (values: readonly (number | undefined)[]): string => {
  const known = values.filter((value) => value !== undefined);
  const [low, high] = [Math.min(0, ...known), Math.max(...known)];
  const toY = (value: number): string =>
    (height - stroke - ((value - low) / (high - low || 1)) * (height - 2 * stroke)).toFixed(1);
  return values
    .map((value, index) =>
      value === undefined ? '' : `${values[index - 1] === undefined ? 'M' : 'L'}${index},${toY(value)}`,
    )
    .join('');
};

export const Sparkline = ({ values }: { readonly values: readonly (number | undefined)[] }) => {
  if (values.filter((value) => value !== undefined).length < 2) return null;
  return (
    <svg class="spark" viewBox={`0 0 ${values.length - 1} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      <path d={toSparklinePath(values)} />
    </svg>
  );
};
