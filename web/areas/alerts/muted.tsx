/** Alerts that matchers currently mute */

import { Problem } from '../../frame/freshness.tsx';
import { shownText } from '../../frame/shown-text.tsx';
import { useQuery } from '../../frame/use-query.ts';
import { previewSilenceCall, type Silence } from './calls.ts';
import { formatLabels } from './shown.ts';

export const SilencePreview = ({ matchers }: { readonly matchers: Silence['matchers'] }) => {
  const { answer, error } = useQuery(previewSilenceCall, { body: { matchers } });
  return (
    <>
      <Problem error={error} />
      {answer === undefined || error !== undefined ? null : (
        <>
          <p role="status">
            This would mute {answer.muted} of {answer.firing} firing alerts.
          </p>
          <ul>
            {answer.items.slice(0, 20).map(({ alertId, ruleName, labels }) => (
              <li key={alertId}>
                {shownText(ruleName)} <span class="soft">{shownText(formatLabels(labels))}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
};
