/** Sending instructions: a choice of sources, with the endpoint and a new license key filled in, and what has arrived */
import { useEffect } from 'preact/hooks';
import { ApiQuery } from '../../client/query.ts';
import { Badge } from '../../components/badge.tsx';
import { ButtonLink } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { CreateKey, fillInKey } from '../../editors/license-key.tsx';
import { readParam, toArea } from '../../frame/address.ts';
import { capitalize } from '../../frame/capitalize.ts';
import { renderText } from '../../frame/display-text.tsx';
import { formatClockTime } from '../../frame/format-time.ts';
import { ErrorMessage } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { getProject } from '../../frame/project.ts';
import { useQuery } from '../../frame/use-query.ts';
import { RawText } from '../../lists/raw.tsx';
import { receivedCall, snippetsCall } from './calls.ts';

const pollMs = 3_000;
/** Time of the first visit in this tab: what arrived later is new */
const listeningSince = new Date();
const received = new ApiQuery(receivedCall);

/** The browser key in the snippets, or the way to create one */
const BrowserKey = ({ application }: { readonly application: string | undefined }) =>
  application === undefined ? (
    <p class="act">
      <ButtonLink kind="primary" url={toArea('/settings/keys', { new: 'browser' })}>
        Create browser key
      </ButtonLink>
      <span class="soft">It belongs to an application and its origins, and pages may show it.</span>
    </p>
  ) : (
    <p class="soft">
      The browser key of {renderText(application)} is filled in.{' '}
      <Link url={toArea('/digital-experience/keys')}>All browser keys</Link>
    </p>
  );

const signalTitles = { logs: 'Logs', metrics: 'Metrics', traces: 'Traces' } as const;
const signalAreas = { logs: '/logs', metrics: '/explore-metrics', traces: '/traces' } as const;

/** What has arrived since this tab opened Get started; it updates by itself. */
const ReceivedTelemetry = () => {
  const query = { projectId: getProject(), since: listeningSince.toISOString() };
  useEffect(() => {
    // A slow response is not cancelled by the next poll.
    const poll = (): void => {
      if (!received.state.peek().isLoading) received.run({ query });
    };
    poll();
    const timer = setInterval(poll, pollMs);
    return () => {
      clearInterval(timer);
      received.cancel();
    };
  }, [query.projectId]);
  const { response, error } = received.state.value;
  const arrived = (['logs', 'metrics', 'traces'] as const).filter((name) => response?.[name] != null);
  return (
    <div class="act" role="status">
      {arrived.length === 0 ? (
        <>
          <Badge tone="warning">Waiting for data…</Badge>
          <span class="soft">Listening since {formatClockTime(listeningSince.getTime())}.</span>
        </>
      ) : (
        arrived.map((name) => (
          <span key={name}>
            <Badge tone="ok">{signalTitles[name]} received</Badge>{' '}
            <Link url={toArea(signalAreas[name])}>View {signalTitles[name].toLowerCase()}</Link>
          </span>
        ))
      )}
      <Link url={toArea('/get-started/doctor')}>Troubleshoot</Link>
      <ErrorMessage error={error} />
    </div>
  );
};

export const SendingInstructions = () => {
  const browserKey = readParam('key');
  const { response, error } = useQuery(snippetsCall, { query: browserKey === '' ? {} : { browserKey } });
  const items = response?.items ?? [];
  const selectedSnippet = items.find(({ id }) => id === readParam('sender')) ?? items[0];
  if (response === undefined || selectedSnippet === undefined) return <ErrorMessage error={error} />;
  const fillIn = (text: string): string => fillInKey(text, response.keyPlaceholder);
  return (
    <div class="sources">
      <nav aria-label="Sources" class="card source-list">
        <ul>
          {items.map(({ id, title }) => (
            <li key={id}>
              <Link url={toArea('/get-started', { sender: id, key: browserKey })} isCurrent={id === selectedSnippet.id}>
                {title}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <Card title={selectedSnippet.title} note={`Sends ${selectedSnippet.signals.join(', ')}`}>
        {selectedSnippet.kind !== 'browser' ? (
          <CreateKey />
        ) : (
          <BrowserKey application={response.browserKey?.application} />
        )}
        {selectedSnippet.pieces.map(({ name, text }, index) => (
          <div key={name}>
            <div class="act">
              <h3>
                {index + 1}. {renderText(capitalize(name))}
              </h3>
              <CopyButton text={fillIn(text)} label={`Copy ${name}`} />
            </div>
            <RawText label={name} text={fillIn(text)} />
          </div>
        ))}
        <ReceivedTelemetry />
        <details>
          <summary>All endpoints</summary>
          <dl class="fields">
            {Object.entries(response.endpoints).map(([name, address]) => (
              <div key={name}>
                <dt>{endpointTitles[name as keyof typeof endpointTitles]}</dt>
                <dd>
                  {renderText(address)} <CopyButton text={address} isIcon={true} />
                </dd>
              </div>
            ))}
          </dl>
        </details>
      </Card>
    </div>
  );
};

const endpointTitles = {
  otlpHttp: 'OTLP over HTTP',
  otlpGrpc: 'OTLP over gRPC',
  otlpHttpBare: 'OTLP over HTTP, default port',
  remoteWrite: 'Prometheus remote write',
  loki: 'Loki push',
  zipkin: 'Zipkin',
  opamp: 'OpAMP',
  browsers: 'Browsers',
} as const;
