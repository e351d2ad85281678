/** Dashboards for tests, with the given fields. */
import type { DashboardFields } from '../../../subjects/dashboards/document.ts';

export const document = (fields: object): DashboardFields =>
  ({ name: 'one', tags: [], panels: [], sections: [], variables: [], annotations: [], ...fields }) as never;
export const panel = (id: string, title = id) => ({ id, title });
