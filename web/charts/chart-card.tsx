/** Card with a chart: its value, and a menu that opens its query elsewhere or shows its data table */
import { Bell, ChartLine, LayoutDashboard, ScanSearch, Table2 } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { z } from 'zod';
import type { Query } from '../../queries/query.ts';
import { Card } from '../components/card.tsx';
import { Menu, type MenuItem } from '../components/menu.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { toArea } from '../frame/address.ts';
import { getDataLink } from '../frame/query-links.ts';
import { timeRange } from '../frame/time-range.ts';
import { LineChart, type LineChartProps } from './lines.tsx';
import { ChartDataTable } from './value-table.tsx';
import { formatQuantity } from './values.ts';

type QueryInput = z.input<typeof Query>;

/** Returns links that open the query of a chart: its data, a new alert rule, a new dashboard panel. */
export const listQueryItems = (title: string, query: QueryInput): readonly MenuItem[] => {
  const data = getDataLink({ query: query as Query, ...timeRange.value });
  const serialized = JSON.stringify(query);
  return [
    ...(data === undefined ? [] : [{ title: `Open in ${data[0].toLowerCase()}`, icon: ScanSearch, url: data[1] }]),
    { title: 'Create alert', icon: Bell, url: toArea('/alerts/rule', { query: serialized, name: title }) },
    {
      title: 'Add to dashboard',
      icon: LayoutDashboard,
      url: toArea('/dashboards', { show: 'put', query: serialized, title }),
    },
  ];
};

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
