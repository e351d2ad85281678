/** Formats values of SLOs */

export const formatRatio = (value: number | null): string =>
  value === null ? 'no data' : `${(100 * value).toFixed(3)} %`;

/** Remaining error budget; a negative value means that the budget is overspent */
export const BudgetRemaining = ({ percent }: { readonly percent: number | null }) =>
  percent === null ? (
    <span class="soft">no data</span>
  ) : (
    <span class={percent < 0 ? 'text-error' : percent < 25 ? 'text-warn' : ''}>
      {Math.abs(percent).toFixed(1)} %{percent < 0 ? ' overspent' : ''}
    </span>
  );
