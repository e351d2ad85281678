/** Links from evidence to the records that show it, as paths of the API */
import { createNode } from '../services/edges.ts';
import type { AttributedNode } from './attribution.ts';
import { getNodeDisplayName } from './incident-context.ts';

const servicePrefix = `${createNode('service', '').id}:`;

interface LinkRange {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Returns the search of the requests that a node serves; of a node without spans, of the calls of its caller. */
const buildRequestsSearch = ({ node, path, degradations }: AttributedNode, host: string | undefined): string => {
  const isService = node.startsWith(servicePrefix);
  const service = isService ? node : (path.at(-2) ?? '');
  return [
    `service:${JSON.stringify(getNodeDisplayName(service))}`,
    isService ? 'kind:server' : 'kind:client',
    ...(degradations.some(({ aspect }) => aspect === 'errors') ? ['status:error'] : []),
    ...(host === undefined ? [] : [`host.name:${JSON.stringify(host)}`]),
  ].join(' ');
};

/** Returns the link to the requests of a node in a range: the failed ones, if more of them fail. */
export const createRequestsLink = (
  attributedNode: AttributedNode,
  { fromMs, untilMs }: LinkRange,
  host?: string,
): string => {
  const parameters = new URLSearchParams({
    search: buildRequestsSearch(attributedNode, host),
    from: new Date(fromMs).toISOString(),
    to: new Date(Math.max(fromMs, untilMs)).toISOString(),
    scope: 'account',
  });
  return `/api/spans?${parameters}`;
};
