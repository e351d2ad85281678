/** Panels of states over time: intervals of a state, or a cell per step. The code is loaded on first use. */
import { useMemo } from 'preact/hooks';
import { shownText, textOf } from '../../../frame/shown-text.tsx';
import { shortTime, shownTime } from '../../../frame/shown-time.ts';
import { Scrolled } from '../../../lists/scrolled.tsx';
import { TableHeader } from '../../../lists/table-header.tsx';
import { type Field, fieldsOf, shownIn, timesOf, toneIn } from '../fields.ts';
import { type Stretch, stretchesOf } from './buckets.ts';
import type { PanelProps } from './panel-props.ts';

/** Maximum numbers of displayed rows and cells; more would slow down rendering */
const [maxRows, maxCells, maxTableRows] = [100, 150, 300];
const palette = 8;

interface Row {
  readonly field: Field;
  readonly stretches: readonly (Stretch & { readonly text: string; readonly swatchClass: string })[];
}

/** Returns rows with their last cells if there are too many. */
const rowsOf = (drawn: PanelProps['drawn'], to: number, merges: boolean): readonly Row[] => {
  const all = fieldsOf(drawn);
  const states = new Map<string, number>();
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
        stretches: stretches.map((stretch) => {
          const text = shownIn(field, stretch.value) || textOf(stretch.value);
          if (!states.has(text)) states.set(text, states.size);
          const tone = toneIn(field, stretch.value);
          return {
            ...stretch,
            text,
            swatchClass: tone === undefined ? `line-${(states.get(text) ?? 0) % palette}` : `tone-${tone}`,
          };
        }),
      };
    });
};

const legendOf = (rows: readonly Row[]): readonly (readonly [text: string, look: string])[] =>
  [
    ...new Map(rows.flatMap(({ stretches }) => stretches.map(({ text, swatchClass }) => [text, swatchClass] as const))),
  ].slice(0, 30);

const TableOf = ({ rows, title }: { readonly rows: readonly Row[]; readonly title: string }) => (
  <details class="numbers-of">
    <summary>Data table</summary>
    <Scrolled class="numbers" label={`Data of ${title || 'the states'}`}>
      <table>
        <TableHeader columns={['Series', 'State', 'From', 'To']} />
        <tbody>
          {rows
            .flatMap(({ field, stretches }) => stretches.map((stretch) => ({ field, ...stretch })))
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

const States = ({ drawn, from, to, merges }: PanelProps & { readonly merges: boolean }) => {
  const rows = useMemo(() => rowsOf(drawn, to, merges), [drawn, to, merges]);
  if (rows.every(({ stretches }) => stretches.length === 0)) return <p class="soft">No values in this range.</p>;
  const share = (ms: number): string => `${((100 * ms) / Math.max(1, to - from)).toFixed(3)}%`;
  return (
    <>
      <dl class="states">
        {rows.map(({ field, stretches }) => (
          <div key={field.key}>
            <dt>
              <bdi>{shownText(field.name)}</bdi>
            </dt>
            <dd>
              <div
                role="img"
                aria-label={`${field.name}: ${stretches.length === 0 ? 'no values' : `${stretches.length} stretches, the last is ${stretches.at(-1)?.text}`}.`}
              >
                {stretches.map((stretch) => (
                  <span
                    key={stretch.from}
                    class={stretch.swatchClass}
                    title={`${stretch.text}, ${shownTime(stretch.from)} to ${shownTime(stretch.to)}`}
                    style={{
                      left: share(Math.max(0, stretch.from - from)),
                      width: share(stretch.to - Math.max(from, stretch.from)),
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
        {legendOf(rows).map(([text, swatchClass]) => (
          <span key={text}>
            <span class={`swatch ${swatchClass}`} /> <bdi>{shownText(text)}</bdi>{' '}
          </span>
        ))}
      </p>
      <TableOf rows={rows} title={drawn.title} />
    </>
  );
};

export const StateTimelinePanel = (props: PanelProps) => (
  <States {...props} merges={props.drawn.visual['merges'] !== false} />
);
export const StatusHistoryPanel = (props: PanelProps) => <States {...props} merges={false} />;
