/** Panels of states over time: intervals of a state, or a cell per step. The code is loaded on first use. */
import { useMemo } from 'preact/hooks';
import { shownText, textOf } from '../../../frame/shown-text.tsx';
import { shortTime, shownTime } from '../../../frame/shown-time.ts';
import { Scrolled } from '../../../lists/scrolled.tsx';
import { TableHeader } from '../../../lists/table-header.tsx';
import { type Field, fieldsOf, shownIn, timesOf, toneIn } from '../fields.ts';
import { type StateInterval, stretchesOf } from './buckets.ts';
import type { PanelProps } from './panel-props.ts';

/** Maximum numbers of displayed rows and cells; more would slow down rendering */
const [maxRows, maxCells, maxTableRows] = [100, 150, 300];
const palette = 8;

interface StateRow {
  readonly field: Field;
  readonly intervals: readonly (StateInterval & { readonly text: string; readonly swatchClass: string })[];
}

/** Returns one row per field. If there are too many rows or intervals, keeps the first rows and the last intervals. */
const buildRows = (drawn: PanelProps['panel'], to: number, merges: boolean): readonly StateRow[] => {
  const all = fieldsOf(drawn);
  const stateIndexes = new Map<string, number>();
  return all
    .filter((field) => field.type !== 'time' && timesOf(field, all).length > 0)
    .slice(0, maxRows)
    .map((field) => {
      const times = timesOf(field, all);
      const points = times
        .map((time, at): [number, unknown] => [time, field.values[at] ?? null])
        .sort(([one], [other]) => one - other);
      const stretches = stretchesOf(points, { to, merges })
        .filter(({ value }) => value !== null)
        .slice(-maxCells);
      return {
        field,
        intervals: stretches.map((stretch) => {
          const text = shownIn(field, stretch.value) || textOf(stretch.value);
          if (!stateIndexes.has(text)) stateIndexes.set(text, stateIndexes.size);
          const tone = toneIn(field, stretch.value);
          return {
            ...stretch,
            text,
            swatchClass: tone === undefined ? `line-${(stateIndexes.get(text) ?? 0) % palette}` : `tone-${tone}`,
          };
        }),
      };
    });
};

const legendEntries = (rows: readonly StateRow[]): readonly (readonly [text: string, look: string])[] =>
  [
    ...new Map(rows.flatMap(({ intervals }) => intervals.map(({ text, swatchClass }) => [text, swatchClass] as const))),
  ].slice(0, 30);

const StateTable = ({ rows, title }: { readonly rows: readonly StateRow[]; readonly title: string }) => (
  <details class="numbers-of">
    <summary>Data table</summary>
    <Scrolled class="numbers" label={`Data of ${title || 'the states'}`}>
      <table>
        <TableHeader columns={['Series', 'State', 'From', 'To']} />
        <tbody>
          {rows
            .flatMap(({ field, intervals }) => intervals.map((stretch) => ({ field, ...stretch })))
            .slice(0, maxTableRows)
            .map(({ field, from, to, text }) => (
              <tr key={`${field.key} ${from}`}>
                <td>
                  <bdi>{shownText(field.name)}</bdi>
                </td>
                <td>
                  <bdi>{shownText(text)}</bdi>
                </td>
                <td>{shownTime(from)}</td>
                <td>{shownTime(to)}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </Scrolled>
  </details>
);

const StateRows = ({ panel, from, to, merges }: PanelProps & { readonly merges: boolean }) => {
  const rows = useMemo(() => buildRows(panel, to, merges), [panel, to, merges]);
  if (rows.every(({ intervals }) => intervals.length === 0)) return <p class="soft">No values in this range.</p>;
  const toPercent = (ms: number): string => `${((100 * ms) / Math.max(1, to - from)).toFixed(3)}%`;
  return (
    <>
      <dl class="states">
        {rows.map(({ field, intervals }) => (
          <div key={field.key}>
            <dt>
              <bdi>{shownText(field.name)}</bdi>
            </dt>
            <dd>
              <div
                role="img"
                aria-label={`${field.name}: ${intervals.length === 0 ? 'no values' : `${intervals.length} stretches, the last is ${intervals.at(-1)?.text}`}.`}
              >
                {intervals.map((stretch) => (
                  <span
                    key={stretch.from}
                    class={stretch.swatchClass}
                    title={`${stretch.text}, ${shownTime(stretch.from)} to ${shownTime(stretch.to)}`}
                    style={{
                      left: toPercent(Math.max(0, stretch.from - from)),
                      width: toPercent(stretch.to - Math.max(from, stretch.from)),
                    }}
                  >
                    {shownText(stretch.text)}
                  </span>
                ))}
              </div>
            </dd>
          </div>
        ))}
      </dl>
      <p class="axis">
        <span>{shortTime(from)}</span>
        <span>{shortTime(to)}</span>
      </p>
      <p class="legend">
        {legendEntries(rows).map(([text, swatchClass]) => (
          <span key={text}>
            <span class={`swatch ${swatchClass}`} /> <bdi>{shownText(text)}</bdi>{' '}
          </span>
        ))}
      </p>
      <StateTable rows={rows} title={panel.title} />
    </>
  );
};

export const StateTimelinePanel = (props: PanelProps) => (
  <StateRows {...props} merges={props.panel.visual['merges'] !== false} />
);
export const StatusHistoryPanel = (props: PanelProps) => <StateRows {...props} merges={false} />;
