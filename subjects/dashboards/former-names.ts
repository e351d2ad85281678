/** Renames fields of dashboards that were saved before version 2 to their current names. */
import { changeNested, type FieldChange, renameFields } from '../../runtime/rename-fields.ts';

const chainChanges =
  (first: FieldChange, second: FieldChange): FieldChange =>
  (fields) =>
    second(first(fields));

const renameLimit = renameFields({ most: 'max' });
const renameImported = renameFields({ kept: 'unmapped' });
export const renameFormerVisual = chainChanges(
  renameFields({ most: 'max', why: 'reason' }),
  changeNested({ reduce: renameLimit }),
);
const renamePanel = chainChanges(
  renameFields({ mostPoints: 'maxDataPoints', shortestStep: 'minStep' }),
  changeNested({
    queries: renameFields({ shortestStep: 'minStep' }),
    visual: renameFormerVisual,
    repeat: renameLimit,
    imported: renameImported,
  }),
);

/** Renames the fields of a document of version 1 to those of version 2. */
export const renameFormerFields = changeNested({
  panels: renamePanel,
  sections: changeNested({ repeat: renameLimit }),
  variables: changeNested({ auto: renameFields({ least: 'min' }), imported: renameImported }),
  annotations: changeNested({ imported: renameImported }),
  imported: renameImported,
});
