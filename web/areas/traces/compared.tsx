/** Differences between the spans of the selected region and all others */
import { useEffect } from 'preact/hooks';
import { ApiQuery } from '../../client/query.ts';
import { change, inAddress } from '../../frame/address.ts';
import { conditionOf, spelled } from '../../frame/conditions.ts';
import { Freshness, Problem } from '../../frame/freshness.tsx';
import { projectScope } from '../../frame/project.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { refreshes, writtenRange } from '../../frame/time-range.ts';
import { Scrolled } from '../../lists/scrolled.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { type Comparison, compareCall } from './calls.ts';
import { region, searchOfRegion } from './region.ts';

const compared = new ApiQuery(compareCall);
const number = new Intl.NumberFormat('en');

/** A share as a bar and a number. */
const Share = ({ of, name }: { readonly of: number; readonly name: string }) => (
  <>
    <span class={`share ${name}`} style={{ width: `${Math.max(1, of * 100)}%` }} /> {Math.round(of * 100)} %
  </>
);

type Difference = Comparison['items'][number];

const Row = ({ of: { field, value, test, selected, baseline, correlated } }: { readonly of: Difference }) => (
  <tr>
    <td>
      <bdi>{shownText(field)}</bdi>
      {value === null ? (
        <span class="soft">{test === 'rank' ? ' larger or smaller' : ' any value'}</span>
      ) : (
        <button
          type="button"
          class="value"
          title="Search for spans with this value"
          onClick={() => change({ search: `${inAddress('search').trim()} ${conditionOf(field, value)}`.trim() })}
        >
          {shownText(value.slice(0, 300))}
        </button>
      )}
      {correlated.length === 0 ? null : (
        <details>
          <summary>with {correlated.length} correlated attributes</summary>
          <ul>
            {correlated.map(({ field: other, value: of }) => (
              <li key={`${other} ${of}`}>
                {shownText(spelled(other))} {shownText(of ?? '')}
              </li>
            ))}
          </ul>
        </details>
      )}
    </td>
    <td>
      <Share of={selected.share} name="selected" />
    </td>
    <td>
      <Share of={baseline.share} name="rest" />
    </td>
  </tr>
);

const Differences = ({ of }: { readonly of: Comparison }) => {
  const { items, selected, baseline, isSampled, reason } = of;
  const summary = `${number.format(selected.count)} spans in the selection, ${number.format(baseline.count)} in the baseline${isSampled ? '; the result is based on a sample' : ''}.`;
  return (
    <>
      <p role="status">
        {summary} {items.length === 0 ? (reason ?? 'No attributes differ.') : ''}
      </p>
      {items.length === 0 ? null : (
        <Scrolled class="scrolled" label="Differences">
          <table class="figures differences">
            <TableHeader columns={['Attribute', 'Selection', 'Baseline']} />
            <tbody>
              {items.map((difference) => (
                <Row key={`${difference.field} ${difference.value} ${difference.test}`} of={difference} />
              ))}
            </tbody>
          </table>
        </Scrolled>
      )}
    </>
  );
};

export const Compared = () => {
  const { from, to } = writtenRange.value;
  const chosen = region.value;
  const search = inAddress('search');
  useEffect(() => {
    if (chosen === undefined) compared.clear();
    else
      compared.run({
        query: { from, to, ...projectScope.value, search, selection: searchOfRegion(chosen), limit: 20 },
      });
    return () => compared.cancel();
  }, [from, to, search, chosen, projectScope.value, refreshes.value]);
  if (chosen === undefined) return null;
  const { answer, error } = compared.state.value;
  return (
    <section class="compared" aria-label="Comparison of the selection with the baseline">
      <h2>Attributes that differ most</h2>
      <Problem error={error} />
      {answer === undefined ? null : <Differences of={answer} />}
      <Freshness of={compared.state.value} />
    </section>
  );
};
