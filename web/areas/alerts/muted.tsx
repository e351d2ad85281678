/** What matchers would mute now. */
import { useAsked } from '../../frame/asked.ts';
import { shownText } from '../../frame/shown-text.tsx';
import { Problem } from '../../frame/standing.tsx';
import { mutedCall, type Silence } from './calls.ts';
import { shownLabels } from './shown.ts';

export const Muted = ({ matchers }: { readonly matchers: Silence['matchers'] }) => {
  const { answer, error } = useAsked(mutedCall, { body: { matchers } });
  return (
    <>
      <Problem error={error} />
      {answer === undefined || error !== undefined ? null : (
        <>
          <p role="status">
            It would mute {answer.muted} of {answer.firing} alerts that fire now.
          </p>
          <ul>
            {answer.items.slice(0, 20).map(({ alertId, ruleName, labels }) => (
              <li key={alertId}>
                {shownText(ruleName)} <span class="soft">{shownText(shownLabels(labels))}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
};
