/** Panels for states over time, as intervals or as one cell per step. This code is loaded on first use. */
import { useMemo } from 'preact/hooks';
import { renderText, toText } from '../../../frame/display-text.tsx';
import { formatShortTime, formatTime } from '../../../frame/format-time.ts';
import { ScrollRegion } from '../../../lists/scroll-region.tsx';
import { TableHeader } from '../../../lists/table-header.tsx';
import { type Field, formatFieldValue, getFields, getFieldTimes, getValueTone } from '../fields.ts';
import { buildStateIntervals, type StateInterval } from './buckets.ts';
import type { PanelProps } from './panel-props.ts';

/** Maximum numbers of rows and cells, which keep rendering fast */
const [maxRows, maxCells, maxTableRows] = [100, 150, 300];
const paletteSize = 8;
/** Share of the range from which an interval has room for its text */
const minShareOfText = 0.04;

interface StateRow {
  readonly field: Field;
  readonly intervals: readonly (StateInterval & { readonly text: string; readonly swatchClass: string })[];
}

/** Returns one row per field. If there are too many rows or intervals, keeps the first rows and the last intervals. */
const buildRows = (panel: PanelProps['panel'], rangeEnd: number, shouldMerge: boolean): readonly StateRow[] => {
  const fields = getFields(panel);
  const stateIndexes = new Map<string, number>();
  return fields
    .filter((field) => field.type !== 'time' && getFieldTimes(field, fields).length > 0)
    .slice(0, maxRows)
    .map((field) => {
      const times = getFieldTimes(field, fields);
      const points = times
        .map((time, index): [number, unknown] => [time, field.values[index] ?? null])
        .sort(([one], [other]) => one - other);
      const intervals = buildStateIntervals(points, { to: rangeEnd, shouldMerge })
        .filter(({ value }) => value !== null)
        .slice(-maxCells);
      return {
        field,
        intervals: intervals.map((interval) => {
          const text = formatFieldValue(field, interval.value) || toText(interval.value);
          if (!stateIndexes.has(text)) stateIndexes.set(text, stateIndexes.size);
          const tone = getValueTone(field, interval.value);
          return {
            ...interval,
            text,
            swatchClass: tone === undefined ? `line-${(stateIndexes.get(text) ?? 0) % paletteSize}` : `tone-${tone}`,
          };
        }),
      };
    });
};

const listLegendEntries = (rows: readonly StateRow[]): readonly (readonly [text: string, look: string])[] =>
  [
    ...new Map(rows.flatMap(({ intervals }) => intervals.map(({ text, swatchClass }) => [text, swatchClass] as const))),
  ].slice(0, 30);

const StateTable = ({ rows, title }: { readonly rows: readonly StateRow[]; readonly title: string }) => (
  <details class="numbers-of">
    <summary>Data table</summary>
    <ScrollRegion class="numbers" label={`Data of ${title || 'the states'}`}>
      <table>
        <TableHeader columns={['Series', 'State', 'From', 'To']} />
        <tbody>
          {rows
            .flatMap(({ field, intervals }) => intervals.map((interval) => ({ field, ...interval })))
            .slice(0, maxTableRows)
            .map(({ field, from, to, text }) => (
              <tr key={`${field.key} ${from}`}>
                <td>
                  <bdi>{renderText(field.name)}</bdi>
                </td>
                <td>
                  <bdi>{renderText(text)}</bdi>
                </td>
                <td>{formatTime(from)}</td>
                <td>{formatTime(to)}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </ScrollRegion>
  </details>
);

const StateRows = ({ panel, from, to, merges }: PanelProps & { readonly merges: boolean }) => {
  const rows = useMemo(() => buildRows(panel, to, merges), [panel, to, merges]);
  if (rows.every(({ intervals }) => intervals.length === 0)) return <p class="soft">No values in this range.</p>;
  const {
    valueShown = 'auto',
    rowHeight = 0.9,
    align = 'left',
    legend = {},
  } = panel.visual as Partial<{
    readonly valueShown: string;
    readonly rowHeight: number;
    readonly align: string;
    readonly legend: { readonly place?: string };
  }>;
  const isNarrow = (interval: StateInterval): boolean =>
    (interval.to - interval.from) / Math.max(1, to - from) < minShareOfText;
  const toPercent = (ms: number): string => `${((100 * ms) / Math.max(1, to - from)).toFixed(3)}%`;
  return (
    <>
      <dl class="states">
        {rows.map(({ field, intervals }) => (
          <div key={field.key}>
            <dt>
              <bdi>{renderText(field.name)}</bdi>
            </dt>
            <dd>
              <div
                class={`align-${align}`}
                style={{ height: `${Math.round(10 + 14 * rowHeight)}px` }}
                role="img"
                aria-label={`${field.name}: ${intervals.length === 0 ? 'no values' : `${intervals.length} stretches, the last is ${intervals.at(-1)?.text}`}.`}
              >
                {intervals.map((interval) => (
                  <span
                    key={interval.from}
                    class={interval.swatchClass}
                    title={`${interval.text}, ${formatTime(interval.from)} to ${formatTime(interval.to)}`}
                    style={{
                      left: toPercent(Math.max(0, interval.from - from)),
                      width: toPercent(interval.to - Math.max(from, interval.from)),
                    }}
                  >
                    {valueShown === 'never' || (valueShown === 'auto' && isNarrow(interval))
                      ? null
                      : renderText(interval.text)}
                  </span>
                ))}
              </div>
            </dd>
          </div>
        ))}
      </dl>
      <p class="axis">
        <span>{formatShortTime(from)}</span>
        <span>{formatShortTime(to)}</span>
      </p>
      {legend.place === 'hidden' ? null : (
        <p class="legend">
          {listLegendEntries(rows).map(([text, swatchClass]) => (
            <span key={text}>
              <span class={`swatch ${swatchClass}`} /> <bdi>{renderText(text)}</bdi>{' '}
            </span>
          ))}
        </p>
      )}
      <StateTable rows={rows} title={panel.title} />
    </>
  );
};

export const StateTimelinePanel = (props: PanelProps) => (
  <StateRows {...props} merges={props.panel.visual['merges'] !== false} />
);
export const StatusHistoryPanel = (props: PanelProps) => <StateRows {...props} merges={false} />;
