/** Browser keys: application, origins, and the snippet that installs the script on a page */

import { Badge } from '../../components/badge.tsx';
import { ButtonLink } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { SkeletonRows } from '../../components/skeleton.tsx';
import { toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { useQuery } from '../../frame/use-query.ts';
import { EmptyView } from '../../lists/empty-view.tsx';
import { RawText } from '../../lists/raw.tsx';
import { ScrollRegion } from '../../lists/scroll-region.tsx';
import { type Key, keysCall } from './calls.ts';

const formatSnippet = (key: string): string =>
  `<script async src="${location.origin}/rum/oiq.js" data-key="${key}" data-release="1.0.0"></script>`;

const KeyCard = ({ browserKey }: { readonly browserKey: Key }) => {
  const { name, application, origins, publicKey, state, maxBytesPerDay } = browserKey;
  const snippet = formatSnippet(publicKey ?? '');
  return (
    <Card
      title={renderText(name)}
      note={<Badge tone={state === 'active' ? 'ok' : 'neutral'}>{state}</Badge>}
      actions={<CopyButton text={snippet} label="Copy snippet" />}
    >
      <dl class="fields">
        <div>
          <dt>Application</dt>
          <dd>{renderText(application ?? '')}</dd>
        </div>
        <div>
          <dt>Origins</dt>
          <dd>{renderText((origins ?? []).join(', '))}</dd>
        </div>
        <div>
          <dt>Key</dt>
          <dd>{renderText(publicKey ?? '')}</dd>
        </div>
        <div>
          <dt>Bytes per day</dt>
          <dd>{maxBytesPerDay ?? 'no limit'}</dd>
        </div>
      </dl>
      <RawText label="Snippet" text={snippet} />
      {state !== 'active' ? null : (
        <Link url={toArea('/get-started', { sender: 'browser', key: publicKey ?? '' })}>Other SDKs</Link>
      )}
    </Card>
  );
};

const BrowserKeysView = () => {
  const state = useQuery(keysCall, { query: { limit: 1000 } });
  const { response, error } = state;
  const browserKeys = response?.items.filter(({ kind }) => kind === 'browser');
  return (
    <>
      <div class="toolbar">
        <p class="soft">A browser key is public. It accepts telemetry of one application from its origins only.</p>
        {(browserKeys?.length ?? 0) === 0 ? null : (
          <ButtonLink kind="primary" url={toArea('/settings/keys', { new: 'browser' })}>
            Create browser key
          </ButtonLink>
        )}
      </div>
      <ErrorMessage error={error} />
      {browserKeys === undefined ? (
        <SkeletonRows />
      ) : browserKeys.length === 0 ? (
        <EmptyView title="No browser keys yet." />
      ) : (
        <ScrollRegion class="scrolled session-page" label="Browser keys">
          {browserKeys.map((browserKey) => (
            <KeyCard key={browserKey.id} browserKey={browserKey} />
          ))}
        </ScrollRegion>
      )}
      <Freshness queryState={state} />
    </>
  );
};

export const BrowserKeys = Object.assign(BrowserKeysView, { requiredCall: keysCall });
