/** Formats values of SLOs */

export const formatRatio = (value: number | null): string =>
  value === null ? 'no data' : `${(100 * value).toFixed(3)} %`;

const formatPercent = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 }).format;

/** Remaining error budget; a negative value means that the budget is overspent */
export const BudgetRemaining = ({ percent }: { readonly percent: number | null }) =>
  percent === null ? (
    <span class="soft">no data</span>
  ) : (
    <span class={percent < 0 ? 'text-error' : percent < 25 ? 'text-warn' : ''}>
      {formatPercent(Math.abs(percent))} %{percent < 0 ? ' overspent' : ''}
    </span>
  );
