/** One span beside the waterfall. */
import { shownDuration } from '../../frame/durations.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { shownTime } from '../../frame/shown-time.ts';
import { Beside, Fields } from '../../lists/beside.tsx';
import type { Span } from './calls.ts';

export const OpenSpan = ({ span, onClose }: { readonly span: Span; readonly onClose: () => void }) => {
  const { name, service, kind, status, statusMessage, durationNs, selfTimeNs, startTime, warnings } = span;
  return (
    <Beside label="Span" title={name} onClose={onClose}>
      <Fields
        values={{
          ...{ service, kind, status, 'status message': statusMessage },
          ...{ start: shownTime(Date.parse(startTime)), duration: shownDuration(durationNs) },
          'without its calls': selfTimeNs === null ? null : shownDuration(selfTimeNs),
          'what is odd': warnings.join(', '),
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
    </Beside>
  );
};
