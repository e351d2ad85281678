/** Alerts that matchers currently mute */

import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { useQuery } from '../../frame/use-query.ts';
import { formatLabels } from './alert-format.ts';
import { previewSilenceCall, type Silence } from './calls.ts';

export const SilencePreview = ({ matchers }: { readonly matchers: Silence['matchers'] }) => {
  const { response, error } = useQuery(previewSilenceCall, { body: { matchers } });
  return (
    <>
      <ErrorMessage error={error} />
      {response === undefined || error !== undefined ? null : (
        <>
          <p role="status">
            This would mute {response.muted} of {response.firing} firing alerts.
          </p>
          <ul>
            {response.items.slice(0, 20).map(({ alertId, ruleName, labels }) => (
              <li key={alertId}>
                {renderText(ruleName)} <span class="soft">{renderText(formatLabels(labels))}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
};
