/** Side panel of an error group: status, stack trace, distribution of tags, and links */

import { useEffect, useState } from 'preact/hooks';
import { PagedList } from '../../client/pages.ts';
import { toArea } from '../../frame/address.ts';
import { toCondition } from '../../frame/conditions.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { projectScope } from '../../frame/project.ts';
import { renderText } from '../../frame/shown-text.tsx';
import { formatIsoTime } from '../../frame/shown-time.ts';
import { refreshCount, timeRange } from '../../frame/time-range.ts';
import { useQuery } from '../../frame/use-query.ts';
import { RawText } from '../../lists/raw.tsx';
import { ShowMore } from '../../lists/show-more.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import { TableHeader } from '../../lists/table-header.tsx';
import { type ErrorDetails, errorCall, occurrencesCall } from './calls.ts';
import { MergedIssues } from './members.tsx';
import { ErrorAssignee, formatStatus, StatusActions } from './steps.tsx';

type Frame = ErrorDetails['newest']['chain'][number]['frames'][number];

const formatFrame = (frame: Frame): string => {
  const { function: name, file, line, column } = frame;
  const sourceLocation = [file, line, column].filter((part) => part !== null).join(':');
  return [name, sourceLocation === '' ? undefined : `(${sourceLocation})`]
    .filter((part) => part !== undefined && part !== null)
    .join(' ');
};

const Stack = ({ newest }: { readonly newest: ErrorDetails['newest'] }) => {
  if (newest.chain.every(({ frames }) => frames.length === 0))
    return newest.stack === null ? (
      <p class="soft">No stack trace.</p>
    ) : (
      <RawText label="Original stack trace" text={newest.stack} />
    );
  return (
    <>
      {newest.chain.map(({ type, frames }, at) => (
        <div key={at}>
          <p>
            {at === 0 ? '' : 'caused by '}
            <b>{renderText(type ?? newest.type ?? 'Error')}</b>
          </p>
          <ol class="around">
            {frames.map((frame, index) => (
              <li key={index} class={frame.isInApp ? '' : 'soft'}>
                {renderText(formatFrame(frame))}
              </li>
            ))}
          </ol>
        </div>
      ))}
      {newest.stack === null ? null : (
        <details>
          <summary>Original stack trace</summary>
          <RawText label="Original stack trace" text={newest.stack} />
        </details>
      )}
    </>
  );
};

const ErrorLinks = ({ newest }: { readonly newest: ErrorDetails['newest'] }) => {
  const { traceId, spanId, logId, service } = newest;
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
const maxShownValues = 5;

const Tags = ({ tags }: { readonly tags: ErrorDetails['tags'] }) => (
  <table class="figures">
    <TableHeader columns={['Tag', 'Value', 'Count', 'Share']} />
    <tbody>
      {tags.flatMap(({ name, count, values }) =>
        values.slice(0, maxShownValues).map((value, at) => (
          <tr key={`${name} ${value.value}`}>
            <td>{at === 0 ? renderText(name) : ''}</td>
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
  const [occurrencePages] = useState(() => new PagedList(occurrencesCall, ({ items }) => items));
  const { from, to } = timeRange.value;
  useEffect(() => {
    occurrencePages.load({ params: { id }, query: { from, to, ...projectScope.value, limit: 20 } });
    return () => occurrencePages.cancel();
  }, [id, from, to, projectScope.value, refreshCount.value]);
  return (
    <>
      <h3>Occurrences in this range</h3>
      <ErrorMessage error={occurrencePages.first.state.value.error ?? occurrencePages.loadMoreError.value} />
      <ul class="around">
        {occurrencePages.items.value.map(({ id, timestamp, service, message, traceId, spanId }) => (
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
      <ShowMore list={occurrencePages} />
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
  const { type, message, count, users, firstSeen, lastSeen, status, culprit, environments, newest, tags } = response;
  return (
    <SidePanel label="Error" title={type ?? 'Error'} onClose={onClose}>
      <ErrorMessage error={error} />
      <RawText label="Message" text={message} />
      <StatusActions key={status} error={response} />
      <ErrorAssignee error={response} />
      <ErrorLinks newest={newest} />
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
      <Stack newest={newest} />
      <h3>Tags</h3>
      <Tags tags={tags} />
      <Occurrences id={id} />
      <MergedIssues key={response.decision.fingerprints.length} error={response} />
    </SidePanel>
  );
};
