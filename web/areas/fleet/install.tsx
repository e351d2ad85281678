/** Manifests that install an agent */
import type { z } from 'zod';
import type { getManifest } from '../../../api/groups/instrumentation/manifest.ts';
import { declareCall } from '../../client/call.ts';
import { ButtonGroup } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { CreateKey, fillInKey } from '../../editors/license-key.tsx';
import { readParam, setParams } from '../../frame/address.ts';
import { capitalize } from '../../frame/capitalize.ts';
import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { useQuery } from '../../frame/use-query.ts';
import { RawText } from '../../lists/raw.tsx';

const manifestCall = declareCall<typeof getManifest>('GET', '/api/instrumentation/manifest');

type Manifest = z.output<(typeof getManifest)['response']>;
type AgentName = Manifest['agent'];
type Format = Manifest['format'];

/** Titles of all agents, and the formats of each, the default first */
const agents = {
  obi: ['OpenTelemetry eBPF Instrumentation', ['kubernetes', 'compose', 'systemd']],
  collector: ['OpenTelemetry Collector', ['helm', 'compose', 'systemd']],
  agentsight: ['AgentSight', ['systemd']],
} as const satisfies Readonly<Record<AgentName, readonly [title: string, formats: readonly Format[]]>>;

const formatTitles: Readonly<Record<Format, string>> = {
  kubernetes: 'Kubernetes',
  helm: 'Helm',
  compose: 'Compose',
  systemd: 'systemd',
};

const readAgent = (): AgentName => {
  const name = readParam('agent');
  return Object.hasOwn(agents, name) ? (name as AgentName) : 'obi';
};

const List = ({ title, texts }: { readonly title: string; readonly texts: readonly string[] }) => (
  <Card title={title}>
    <ul>
      {texts.map((text) => (
        <li key={text}>{renderText(text)}</li>
      ))}
    </ul>
  </Card>
);

const InstallView = () => {
  const agent = readAgent();
  const formats: readonly Format[] = agents[agent][1];
  const format = formats.find((name) => name === readParam('format')) ?? formats[0] ?? 'systemd';
  const queryState = useQuery(manifestCall, { query: { agent, format } });
  const { response, error } = queryState;
  return (
    <div class="fleet-install">
      <div class="toolbar">
        <ButtonGroup label="Agent">
          {Object.entries(agents).map(([name, [title]]) => (
            <button
              key={name}
              type="button"
              class="button secondary"
              aria-pressed={name === agent}
              onClick={() => setParams({ agent: name, format: '' })}
            >
              {title}
            </button>
          ))}
        </ButtonGroup>
        <ButtonGroup label="Format">
          {formats.map((name) => (
            <button
              key={name}
              type="button"
              class="button secondary"
              aria-pressed={name === format}
              onClick={() => setParams({ format: name })}
            >
              {formatTitles[name]}
            </button>
          ))}
        </ButtonGroup>
      </div>
      <ErrorMessage error={error} />
      {response === undefined ? null : (
        <>
          <CreateKey />
          {response.files.map(({ name, text }) => {
            const filledText = fillInKey(text, response.keyPlaceholder);
            return (
              <Card
                key={name}
                title={renderText(name.includes('.') ? name : capitalize(name))}
                actions={<CopyButton text={filledText} label={`Copy ${name}`} />}
              >
                <RawText label={`Content of ${name}`} text={filledText} />
              </Card>
            );
          })}
          <div class="columns">
            <List title="Sees" texts={response.sees} />
            <List title="Does not see" texts={response.doesNotSee} />
            <List title="Privileges" texts={response.privileges} />
          </div>
        </>
      )}
      <Freshness queryState={queryState} />
    </div>
  );
};

export const Install = Object.assign(InstallView, { requiredCall: manifestCall });
