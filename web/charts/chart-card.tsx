/** Card with a chart: its value, and a menu that opens its query elsewhere or shows its data table */
import { ChartLine, Table2 } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Card } from '../components/card.tsx';
import { Menu, type MenuItem } from '../components/menu.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { LineChart, type LineChartProps } from './lines.tsx';
import { listQueryItems, type QueryInput } from './query-items.ts';
import { ChartDataTable } from './value-table.tsx';
import { formatQuantity } from './values.ts';

export const ChartCard = ({
  title,
  note,
  query,
  chart,
  emptyText = 'No values in this range.',
  height = 150,
}: {
  readonly title: string;
  readonly note?: ComponentChildren;
  /** Query of the chart, for links to other areas */
  readonly query?: QueryInput | undefined;
  /** `undefined` while it loads */
  readonly chart: Omit<LineChartProps, 'title' | 'height' | 'hasDataTable'> | undefined;
  readonly emptyText?: ComponentChildren;
  readonly height?: number;
}) => {
  const [showsTable, setShowsTable] = useState(false);
  const items: readonly MenuItem[] = [
    {
      title: showsTable ? 'Show as chart' : 'Show as table',
      icon: showsTable ? ChartLine : Table2,
      onSelect: () => setShowsTable(!showsTable),
    },
    ...(query === undefined ? [] : listQueryItems(title, query)),
  ];
  const hasValues = chart?.lines.some(({ values }) => values.some((value) => value !== undefined)) === true;
  return (
    <Card title={title} note={note} actions={<Menu label={`Actions of ${title}`} kind="quiet" items={items} />}>
      {chart === undefined ? (
        <Skeleton height={height} />
      ) : !hasValues ? (
        <p class="soft">{emptyText}</p>
      ) : showsTable ? (
        <ChartDataTable
          steps={chart.steps}
          lines={chart.lines}
          name={title}
          isOpen
          formatCell={(value) => formatQuantity(value, chart.unit)}
        />
      ) : (
        <LineChart {...chart} title={title} height={height} hasDataTable={false} />
      )}
    </Card>
  );
};
