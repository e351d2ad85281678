/** Formats a relative change: `+12 %`; above tenfold as a factor: `25×`. */
export const formatChange = (change: number): string => {
  if (change >= 9) return `${Math.round(change + 1)}×`;
  const percent = Math.abs(change) < 0.095 ? (100 * change).toFixed(1) : Math.round(100 * change).toString();
  return `${change > 0 ? '+' : ''}${percent.replace('-', '−')} %`;
};
