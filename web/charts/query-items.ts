/** Items of a chart's menu that open its query elsewhere. Views that load charts on demand use them without a chart. */
import { Bell, LayoutDashboard, ScanSearch } from 'lucide';
import type { z } from 'zod';
import type { Query } from '../../queries/query.ts';
import type { MenuItem } from '../components/menu.tsx';
import { toArea } from '../frame/address.ts';
import { getDataLink } from '../frame/query-links.ts';
import { timeRange } from '../frame/time-range.ts';

export type QueryInput = z.input<typeof Query>;

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
