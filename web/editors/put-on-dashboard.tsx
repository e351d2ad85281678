/** Ways from a question to what asks it again and again: a rule, and a panel of a dashboard. */
import type { z } from 'zod';
import type { dashboardResource } from '../../api/dashboards/dashboard.ts';
import type { alertRuleResource } from '../../api/groups/alerts/alert-rule.ts';
import type { Query } from '../../queries/query.ts';
import type { AlertRuleFields } from '../../subjects/alerts/rule.ts';
import type { DashboardFields } from '../../subjects/dashboards/document.ts';
import { creationOf } from '../client/call.ts';
import { toArea } from '../frame/address.ts';
import { Link } from '../frame/link.tsx';
import { may } from '../frame/rights.ts';

const createRule = creationOf<typeof alertRuleResource, typeof AlertRuleFields>('/api/alerts/rules');
const createDashboard = creationOf<typeof dashboardResource, typeof DashboardFields>('/api/dashboards');

interface TitledQuery {
  readonly query: z.input<typeof Query>;
  /** What the panel or the rule is called. */
  readonly title: string;
}

export const PutOnDashboard = ({ query, title }: TitledQuery) =>
  may(createDashboard) ? (
    <Link to={toArea('/dashboards', { show: 'put', query: JSON.stringify(query), title })}>Put it on a dashboard</Link>
  ) : null;

/** Links of those that somebody may make. */
export const QueryLinks = (titledQuery: TitledQuery) => (
  <>
    {may(createRule) ? (
      <Link to={toArea('/alerts/rule', { query: JSON.stringify(titledQuery.query), name: titledQuery.title })}>
        Make a rule of it
      </Link>
    ) : null}
    <PutOnDashboard {...titledQuery} />
  </>
);
