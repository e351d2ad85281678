/** Warnings about probable mistakes in valid documents */
import { findTechniqueStatus, parseAttackTags } from '../attack/matrix.ts';
import { collectTerms } from './condition.ts';
import type { Detection, SigmaDocument } from './documents.ts';
import type { FieldTable } from './fields/table.ts';
import { getRequirements } from './rule-set.ts';

const findTechniqueWarnings = (id: string): string[] => {
  const techniqueStatus = findTechniqueStatus(id);
  switch (techniqueStatus.status) {
    case 'unknown':
      return [`tags: ATT&CK has no technique ${id}`];
    case 'deprecated':
      return [`tags: technique ${id} is deprecated`];
    case 'revoked':
      return [`tags: technique ${id} was revoked and replaced by ${techniqueStatus.by.id}`];
    default:
      return [];
  }
};

const findUnusedSelections = ({ selections, conditions }: Detection): string[] => {
  const usedSelections = new Set(conditions.flatMap(collectTerms));
  return [...selections.keys()]
    .filter((name) => !usedSelections.has(name))
    .map((name) => `detection.${name}: no condition uses this selection`);
};

/** Returns one sentence per warning, which begins with the field. */
export const findWarnings = (document: SigmaDocument, tables: readonly FieldTable[]): string[] => {
  const warnings = parseAttackTags(document.tags).techniques.flatMap(findTechniqueWarnings);
  if (document.kind === 'correlation') return warnings;
  warnings.push(...findUnusedSelections(document.detection));
  if (document.kind === 'filter') return warnings;
  const { fields, matchesEmptyEvent } = getRequirements(document, tables);
  if (matchesEmptyEvent)
    warnings.push(
      'detection.condition: it matches an event without fields, so it matches every event of the log source that lacks the excluded values',
    );
  if (fields.length === 0)
    warnings.push(
      'detection: it uses only keywords, so records without a known log source do not match unless anySource is set',
    );
  return warnings;
};
