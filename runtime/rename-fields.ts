/** New names for the fields of stored documents. A change returns the same object if nothing changes. */
import { isFields } from './fields.ts';

export type StoredFields = Readonly<Record<string, unknown>>;
export type FieldChange = (fields: StoredFields) => StoredFields;

/** Renames fields. If the new name already exists, its value is retained, so a second application changes nothing. */
export const renameFields =
  (names: Readonly<Record<string, string>>): FieldChange =>
  (fields) => {
    if (!Object.keys(names).some((oldName) => Object.hasOwn(fields, oldName))) return fields;
    return Object.fromEntries(
      Object.entries(fields).flatMap(([name, value]) => {
        const newName = names[name];
        if (newName === undefined) return [[name, value]];
        return Object.hasOwn(fields, newName) ? [] : [[newName, value]];
      }),
    );
  };

const changeValue = (change: FieldChange, value: unknown): unknown => {
  if (isFields(value)) return change(value);
  if (!Array.isArray(value)) return value;
  const changedValues = value.map((element) => changeValue(change, element));
  return changedValues.some((element, index) => element !== value[index]) ? changedValues : value;
};

/** Applies changes to the objects in fields, and to each object of the lists in them. */
export const changeNested =
  (changes: Readonly<Record<string, FieldChange>>): FieldChange =>
  (fields) => {
    const entries = Object.entries(changes)
      .filter(([name]) => Object.hasOwn(fields, name))
      .map(([name, change]) => [name, changeValue(change, fields[name])] as const)
      .filter(([name, value]) => value !== fields[name]);
    return entries.length === 0 ? fields : { ...fields, ...Object.fromEntries(entries) };
  };
