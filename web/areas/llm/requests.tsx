/** Requests to models: a list, and the page of one request */
import { formatQuantity } from '../../charts/values.ts';
import { Badge } from '../../components/badge.tsx';
import { readParam, toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoSecond } from '../../frame/format-time.ts';
import { Link } from '../../frame/link.tsx';
import { createListView } from '../../lists/declared-list.tsx';
import { requestsCall } from './calls.ts';
import { formatCost, formatTokens } from './figures.ts';
import { LlmRequestPage } from './request.tsx';

const RequestList = createListView({
  title: 'Requests',
  call: requestsCall,
  isOfProject: true,
  hasTimeRange: true,
  search: 'model:gpt-4o status:error cost:>0.01',
  choices: [
    {
      name: 'sort',
      label: 'Sort by',
      options: [
        ['-time', 'Newest'],
        ['-cost', 'Highest cost'],
        ['-tokens', 'Most tokens'],
        ['-duration', 'Longest'],
      ],
    },
  ],
  emptyText: 'No requests to models in this range.',
  toKey: ({ id }) => id,
  columns: {
    Model: ({ id, model }) => (
      <Link url={toArea('/llm/requests', { request: id })}>{renderText(model || 'no model')}</Link>
    ),
    Status: ({ status, errorType }) =>
      status === 'error' ? <Badge tone="critical">{renderText(errorType ?? 'error')}</Badge> : 'ok',
    Input: ({ tokens }) => (tokens === null ? 'unknown' : formatTokens(tokens.allInput)),
    Output: ({ tokens }) => (tokens === null ? '' : formatTokens(tokens.allOutput)),
    Cost: (item) => formatCost(item),
    Duration: ({ durationMs }) => formatQuantity(durationMs, 'ms'),
    Service: ({ service }) => service,
    User: ({ userId }) => userId ?? '',
    Time: ({ time }) => formatIsoSecond(time),
  },
  wideColumns: ['Input', 'Output', 'Duration', 'Service', 'User', 'Time'],
  numericColumns: ['Input', 'Output', 'Cost', 'Duration'],
});

export const LlmRequestsPage = () => {
  const id = readParam('request');
  return id === '' ? <RequestList /> : <LlmRequestPage key={id} id={id} />;
};
LlmRequestsPage.requiredCall = requestsCall;
