/** Attributes that differ most between the spans of the selected region and all other spans */
import { useEffect } from 'preact/hooks';
import { ApiQuery } from '../../client/query.ts';
import { readParam, setParams } from '../../frame/address.ts';
import { quoteFieldName, toCondition } from '../../frame/conditions.ts';
import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { projectScope } from '../../frame/project.ts';
import { refreshCount, timeRange } from '../../frame/time-range.ts';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { type Comparison, compareCall } from './calls.ts';
import { region, toRegionSearch } from './region.ts';

const comparisonQuery = new ApiQuery(compareCall);
const numberFormat = new Intl.NumberFormat('en');

/** Share as a bar and a percentage */
const ShareBar = ({ share, className }: { readonly share: number; readonly className: string }) => (
  <>
    <span class={`share ${className}`} style={{ width: `${Math.max(1, share * 100)}%` }} /> {Math.round(share * 100)} %
  </>
);

type Difference = Comparison['items'][number];

const DifferenceRow = ({
  difference: { field, value, test, selected, baseline, correlated },
}: {
  readonly difference: Difference;
}) => (
  <tr>
    <td>
      <bdi>{renderText(field)}</bdi>
      {value === null ? (
        <span class="soft">{test === 'rank' ? ' values are larger or smaller' : ' has any value'}</span>
      ) : (
        <button
          type="button"
          class="value"
          title="Search for spans with this value"
          onClick={() => setParams({ search: `${readParam('search').trim()} ${toCondition(field, value)}`.trim() })}
        >
          {renderText(value.slice(0, 300))}
        </button>
      )}
      {correlated.length === 0 ? null : (
        <details>
          <summary>with {correlated.length} correlated attributes</summary>
          <ul>
            {correlated.map(({ field: correlatedField, value: correlatedValue }) => (
              <li key={`${correlatedField} ${correlatedValue}`}>
                {renderText(quoteFieldName(correlatedField))} {renderText(correlatedValue ?? '')}
              </li>
            ))}
          </ul>
        </details>
      )}
    </td>
    <td>
      <ShareBar share={selected.share} className="selected" />
    </td>
    <td>
      <ShareBar share={baseline.share} className="rest" />
    </td>
  </tr>
);

const DifferenceTable = ({ comparison }: { readonly comparison: Comparison }) => {
  const { items, selected, baseline, isSampled, reason } = comparison;
  const summary = `${numberFormat.format(selected.count)} spans in the selection, ${numberFormat.format(baseline.count)} in the baseline${isSampled ? '; the result is based on a sample' : ''}.`;
  return (
    <>
      <p role="status">
        {summary} {items.length === 0 ? (reason ?? 'No attributes differ.') : ''}
      </p>
      {items.length === 0 ? null : (
        <ScrollRegion class="scrolled" label="Differences">
          <table class="figures differences">
            <TableHeader columns={['Attribute', 'Selection', 'Baseline']} />
            <tbody>
              {items.map((difference) => (
                <DifferenceRow
                  key={`${difference.field} ${difference.value} ${difference.test}`}
                  difference={difference}
                />
              ))}
            </tbody>
          </table>
        </ScrollRegion>
      )}
    </>
  );
};

export const RegionComparison = () => {
  const { from, to } = timeRange.value;
  const selectedRegion = region.value;
  const search = readParam('search');
  useEffect(() => {
    if (selectedRegion === undefined) comparisonQuery.clear();
    else
      comparisonQuery.run({
        query: { from, to, ...projectScope.value, search, selection: toRegionSearch(selectedRegion), limit: 20 },
      });
    return () => comparisonQuery.cancel();
  }, [from, to, search, selectedRegion, projectScope.value, refreshCount.value]);
  if (selectedRegion === undefined) return null;
  const { response, error } = comparisonQuery.state.value;
  return (
    <section class="compared" aria-label="Comparison of the selection with the baseline">
      <h2>Attributes that differ most</h2>
      <ErrorMessage error={error} />
      {response === undefined ? null : <DifferenceTable comparison={response} />}
      <Freshness queryState={comparisonQuery.state.value} />
    </section>
  );
};
