/** Side panel of an error group: status, stack trace, distribution of tags, and links */

import { useEffect, useState } from 'preact/hooks';
import { PagedList } from '../../client/pages.ts';
import { toArea } from '../../frame/address.ts';
import { toCondition } from '../../frame/conditions.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatIsoTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { refreshCount, timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { RawText } from '../../lists/raw.tsx';
import { ShowMore } from '../../lists/show-more.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { StackFrames } from '../../lists/stack-frames.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { type ErrorDetails, errorCall, occurrencesCall } from './calls.ts';
import { MergedIssues } from './members.tsx';
import { ErrorAssignee, formatStatus, StatusActions } from './steps.tsx';

const StackTrace = ({ latestOccurrence }: { readonly latestOccurrence: ErrorDetails['newest'] }) => {
  if (latestOccurrence.chain.every(({ frames }) => frames.length === 0))
    return latestOccurrence.stack === null ? (
      <p class="soft">No stack trace.</p>
    ) : (
      <RawText label="Original stack trace" text={latestOccurrence.stack} />
    );
  return (
    <>
      {latestOccurrence.chain.map(({ type, frames }, causeIndex) => (
        <div key={causeIndex}>
          <p>
            {causeIndex === 0 ? '' : 'caused by '}
            <b>{renderText(type ?? latestOccurrence.type ?? 'Error')}</b>
          </p>
          <StackFrames frames={frames} />
        </div>
      ))}
      {latestOccurrence.stack === null ? null : (
        <details>
          <summary>Original stack trace</summary>
          <RawText label="Original stack trace" text={latestOccurrence.stack} />
        </details>
      )}
    </>
  );
};

const ErrorLinks = ({ latestOccurrence }: { readonly latestOccurrence: ErrorDetails['newest'] }) => {
  const { traceId, spanId, logId, service } = latestOccurrence;
  return (
    <ul class="links">
      {traceId === null ? null : (
        <li>
          <Link url={toArea(`/traces/${traceId}`, { span: spanId ?? '' })}>Trace</Link>
        </li>
      )}
      {logId === null ? null : (
        <li>
          <Link url={toArea('/logs', { record: logId })}>Log record</Link>
        </li>
      )}
      <li>
        <Link url={toArea('/logs', { search: `${toCondition('service', service)} severity:>=error` })}>
          Error logs of {renderText(service)}
        </Link>
      </li>
      <li>
        <Link url={toArea('/services', { service })}>{renderText(service)}</Link>
      </li>
    </ul>
  );
};

/** Maximum number of displayed values of a tag */
const maxTagValues = 5;

const TagTable = ({ tags }: { readonly tags: ErrorDetails['tags'] }) => (
  <table class="figures">
    <TableHeader columns={['Tag', 'Value', 'Count', 'Share']} />
    <tbody>
      {tags.flatMap(({ name, count, values }) =>
        values.slice(0, maxTagValues).map((value, valueIndex) => (
          <tr key={`${name} ${value.value}`}>
            <td>{valueIndex === 0 ? renderText(name) : ''}</td>
            <td>
              <bdi>{renderText(value.value)}</bdi>
            </td>
            <td>{value.count}</td>
            <td>{Math.round((100 * value.count) / count)} %</td>
          </tr>
        )),
      )}
    </tbody>
  </table>
);

const Occurrences = ({ id }: { readonly id: string }) => {
  const [pagedOccurrences] = useState(() => new PagedList(occurrencesCall, ({ items }) => items));
  const { from, to } = timeRange.value;
  useEffect(() => {
    pagedOccurrences.load({ params: { id }, query: { from, to, ...projectScope.value, limit: 20 } });
    return () => pagedOccurrences.cancel();
  }, [id, from, to, projectScope.value, refreshCount.value]);
  return (
    <>
      <h3>Occurrences in this range</h3>
      <ErrorMessage error={pagedOccurrences.first.state.value.error ?? pagedOccurrences.loadMoreError.value} />
      <ul class="around">
        {pagedOccurrences.items.value.map(({ id, timestamp, service, message, traceId, spanId }) => (
          <li key={id}>
            {traceId === null ? (
              <time>{formatIsoTime(timestamp)}</time>
            ) : (
              <Link url={toArea(`/traces/${traceId}`, { span: spanId ?? '' })}>{formatIsoTime(timestamp)}</Link>
            )}{' '}
            <bdi>{renderText(service)}</bdi>: <bdi>{renderText(message)}</bdi>
          </li>
        ))}
      </ul>
      <ShowMore list={pagedOccurrences} />
    </>
  );
};

export const ErrorPanel = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => {
  const { from, to } = timeRange.value;
  const { response, error } = useQuery(errorCall, { params: { id }, query: { from, to, ...projectScope.value } });
  if (response === undefined)
    return (
      <SidePanel label="Error" title="Error" onClose={onClose}>
        <ErrorMessage error={error} />
      </SidePanel>
    );
  const {
    type,
    message,
    count,
    users,
    firstSeen,
    lastSeen,
    status,
    culprit,
    environments,
    newest: latestOccurrence,
    tags,
  } = response;
  return (
    <SidePanel label="Error" title={type ?? 'Error'} onClose={onClose}>
      <ErrorMessage error={error} />
      <RawText label="Message" text={message} />
      <StatusActions key={status} error={response} />
      <ErrorAssignee error={response} />
      <ErrorLinks latestOccurrence={latestOccurrence} />
      <Fields
        values={{
          status: formatStatus(response),
          events: count,
          users: typeof users === 'number' ? users : users.reason,
          culprit,
          'first seen': formatIsoTime(firstSeen),
          'last seen': formatIsoTime(lastSeen),
          environments: environments.join(', '),
          'grouping reason': response.explanation.summary,
        }}
      />
      <h3>Latest stack trace</h3>
      <StackTrace latestOccurrence={latestOccurrence} />
      <h3>Tags</h3>
      <TagTable tags={tags} />
      <Occurrences id={id} />
      <MergedIssues key={response.decision.fingerprints.length} error={response} />
    </SidePanel>
  );
};
