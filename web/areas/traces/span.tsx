/** Side panel of a span or of one of its log lines */
import { toArea } from '../../frame/address.ts';
import { shownDuration } from '../../frame/durations.ts';
import { Link } from '../../frame/link.tsx';
import { shownText, textOf } from '../../frame/shown-text.tsx';
import { shownTime } from '../../frame/shown-time.ts';
import { Raw } from '../../lists/raw.tsx';
import { Fields, SidePanel } from '../../lists/side-panel.tsx';
import type { Span, TraceLog } from './calls.ts';

export const OpenSpan = ({ span, onClose }: { readonly span: Span; readonly onClose: () => void }) => {
  const { name, service, kind, status, statusMessage, durationNs, selfTimeNs, startTime, warnings } = span;
  return (
    <SidePanel label="Span" title={name} onClose={onClose}>
      <Fields
        values={{
          service,
          kind,
          status,
          'status message': statusMessage,
          start: shownTime(Date.parse(startTime)),
          duration: shownDuration(durationNs),
          'self time': selfTimeNs === null ? null : shownDuration(selfTimeNs),
          anomalies: warnings.join(', '),
          ...span.attributes,
        }}
      />
      {span.events.map((event) => (
        <section key={`${event.time} ${event.name}`}>
          <h3>{shownText(event.name)}</h3>
          <Fields values={event.attributes} />
        </section>
      ))}
      <h3>Resource</h3>
      <Fields values={span.resource} />
    </SidePanel>
  );
};

/** Maximum number of displayed characters of a line */
const maxShown = 20_000;

export const OpenLog = ({ log, onClose }: { readonly log: TraceLog; readonly onClose: () => void }) => (
  <SidePanel label="Log" title={log.severity || 'Log'} onClose={onClose}>
    <Raw label="Body" text={textOf(log.body).slice(0, maxShown)} />
    <ul class="links">
      <li>
        <Link to={toArea('/logs', { search: `traceId:${log.traceId}`, record: log.id })}>View in logs</Link>
      </li>
    </ul>
    <Fields values={{ service: log.service, time: shownTime(Date.parse(log.timestamp)), ...log.attributes }} />
  </SidePanel>
);
