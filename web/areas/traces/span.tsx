/** One span beside the waterfall. */
import { shownDuration } from '../../frame/durations.ts';
import { shownText, textOf } from '../../frame/shown-text.tsx';
import { shownTime } from '../../frame/shown-time.ts';
import type { Span } from './calls.ts';

const Fields = ({ values }: { readonly values: Readonly<Record<string, unknown>> }) => (
  <dl class="fields">
    {Object.entries(values)
      .filter(([, value]) => value !== null && value !== '')
      .map(([name, value]) => (
        <div key={name}>
          <dt>{shownText(name)}</dt>
          <dd>{shownText(textOf(value))}</dd>
        </div>
      ))}
  </dl>
);

export const OpenSpan = ({ span, onClose }: { readonly span: Span; readonly onClose: () => void }) => {
  const { name, service, kind, status, statusMessage, durationNs, selfTimeNs, startTime, warnings } = span;
  return (
    <aside class="beside" aria-label="Span">
      <div class="beside-head">
        <h2>{shownText(name)}</h2>
        <button type="button" class="plain" onClick={onClose}>
          Close
        </button>
      </div>
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
    </aside>
  );
};
