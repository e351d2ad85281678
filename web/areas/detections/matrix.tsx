/** ATT&CK matrix: techniques that rules detect, and those that were observed */
import type { getMitreCoverage } from '../../../api/groups/siem/coverage.ts';
import { declareCall, type ResponseBody } from '../../client/call.ts';
import { toArea } from '../../frame/address.ts';
import { renderText } from '../../frame/display-text.tsx';
import { ErrorMessage, Freshness } from '../../frame/freshness.tsx';
import { Link } from '../../frame/link.tsx';
import { useQuery } from '../../frame/use-query.ts';
import { ScrollRegion } from '../../lists/scroll-region.tsx';

type Coverage = Extract<ResponseBody<typeof getMitreCoverage>, { tactics: unknown }>;
type Technique = Coverage['tactics'][number]['techniques'][number];

const describeCoverage = ({ enabledRules, rules, signals }: Technique): string =>
  rules === 0 ? '' : `${enabledRules} of ${rules} rules enabled, ${signals} signals`;

const TechniqueItem = ({ technique }: { readonly technique: Technique }) => {
  const { id, name, enabledRules, signals } = technique;
  return (
    <li class={signals > 0 ? 'technique seen' : enabledRules > 0 ? 'technique covered' : 'technique'}>
      {signals > 0 ? <Link url={toArea('/detections', { technique: id })}>{id}</Link> : id} {renderText(name)}
      <span class="soft"> {describeCoverage(technique)}</span>
    </li>
  );
};

export const MitreMatrix = () => {
  const queryState = useQuery(declareCall<typeof getMitreCoverage>('GET', '/api/siem/mitre/coverage'), { query: {} });
  const { response, error } = queryState;
  const coverage = response !== undefined && 'tactics' in response ? (response as Coverage) : undefined;
  return (
    <>
      <ErrorMessage error={error} />
      {coverage === undefined ? null : (
        <>
          <p class="soft">
            ATT&CK {coverage.version}, signals from the last {coverage.days} days. {renderText(coverage.notice)}{' '}
            <a href="/api/siem/mitre/coverage?format=navigator" download="layer.json">
              Export ATT&CK Navigator layer
            </a>
          </p>
          <ScrollRegion class="scrolled matrix" label="ATT&CK matrix">
            {coverage.tactics.map(({ id, name, techniques }) => (
              <div key={id} class="tactic">
                <h2>{renderText(name)}</h2>
                <ul>
                  {techniques.map((technique) => (
                    <TechniqueItem key={technique.id} technique={technique} />
                  ))}
                </ul>
              </div>
            ))}
          </ScrollRegion>
        </>
      )}
      <Freshness queryState={queryState} />
    </>
  );
};
