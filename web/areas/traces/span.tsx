/** Side panels of a span and of a log record of its trace */
import { toArea } from '../../frame/address.ts';
import { toCondition } from '../../frame/conditions.ts';
import { renderText, toText } from '../../frame/display-text.tsx';
import { formatDuration } from '../../frame/durations.ts';
import { formatTime } from '../../frame/format-time.ts';
import { Link } from '../../frame/link.tsx';
import { toServicePage } from '../../frame/resource-links.ts';
import { RawText } from '../../lists/raw.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import type { Span, TraceLog } from './calls.ts';

export const SpanPanel = ({ span, onClose }: { readonly span: Span; readonly onClose: () => void }) => {
  const { name, service, kind, status, statusMessage, durationNs, selfTimeNs, startTime, warnings } = span;
  return (
    <SidePanel label="Span" title={name} onClose={onClose}>
      <ul class="links">
        <li>
          <Link url={toArea('/logs', { search: `traceId:${span.traceId} spanId:${span.spanId}` })}>
            Logs of this span
          </Link>
        </li>
        <li>
          <Link url={toServicePage(service)}>Service {renderText(service)}</Link>
        </li>
        <li>
          <Link url={toArea('/traces', { search: `${toCondition('service', service)} ${toCondition('name', name)}` })}>
            Traces of this operation
          </Link>
        </li>
      </ul>
      <Fields
        values={{
          service,
          kind,
          status,
          'status message': statusMessage,
          start: formatTime(Date.parse(startTime)),
          duration: formatDuration(durationNs),
          'self time': selfTimeNs === null ? null : formatDuration(selfTimeNs),
          warnings: warnings.join(', '),
          ...span.attributes,
        }}
      />
      {span.events.map((event) => (
        <section key={`${event.time} ${event.name}`}>
          <h3>{renderText(event.name)}</h3>
          <Fields values={event.attributes} />
        </section>
      ))}
      <h3>Resource</h3>
      <Fields values={span.resource} />
    </SidePanel>
  );
};

/** Maximum number of displayed characters of a log body */
const maxBodyLength = 20_000;

export const LogPanel = ({ log, onClose }: { readonly log: TraceLog; readonly onClose: () => void }) => (
  <SidePanel label="Log" title={log.severity || 'Log'} onClose={onClose}>
    <RawText label="Body" text={toText(log.body).slice(0, maxBodyLength)} />
    <ul class="links">
      <li>
        <Link url={toArea('/logs', { search: `traceId:${log.traceId}`, record: log.id })}>View in logs</Link>
      </li>
    </ul>
    <Fields values={{ service: log.service, time: formatTime(Date.parse(log.timestamp)), ...log.attributes }} />
  </SidePanel>
);
