/** Links to the forms that create an alert rule or a dashboard panel from a query */
import type { z } from 'zod';
import type { alertRuleResource } from '../../api/groups/alerts/alert-rule.ts';
import type { dashboardResource } from '../../api/groups/dashboards/dashboard.ts';
import type { Query } from '../../queries/query.ts';
import type { AlertRuleFields } from '../../subjects/alerts/rule.ts';
import type { DashboardFields } from '../../subjects/dashboards/document.ts';
import { declareCreateCall } from '../client/call.ts';
import { toArea } from '../frame/address.ts';
import { Link } from '../frame/link.tsx';
import { isPermitted } from '../frame/rights.ts';

const createRuleCall = declareCreateCall<typeof alertRuleResource, typeof AlertRuleFields>('/api/alerts/rules');
const createDashboardCall = declareCreateCall<typeof dashboardResource, typeof DashboardFields>('/api/dashboards');

interface TitledQuery {
  readonly query: z.input<typeof Query>;
  /** Title of the panel or rule */
  readonly title: string;
}

export const AddToDashboardLink = ({ query, title }: TitledQuery) =>
  isPermitted(createDashboardCall) ? (
    <Link url={toArea('/dashboards', { show: 'put', query: JSON.stringify(query), title })}>Add to dashboard</Link>
  ) : null;

/** Links to the forms that the user may open */
export const QueryLinks = (titledQuery: TitledQuery) => (
  <>
    {isPermitted(createRuleCall) ? (
      <Link url={toArea('/alerts/rule', { query: JSON.stringify(titledQuery.query), name: titledQuery.title })}>
        Create alert
      </Link>
    ) : null}
    <AddToDashboardLink {...titledQuery} />
  </>
);
