/** Sort parameter of all lists: `sort=p95` sorts in ascending order, `sort=-p95` in descending order. */
export type Direction = 'ascending' | 'descending';

type Sort<Name extends string> = Name | `-${Name}`;

/** Returns all sort values: each name, and each with a leading `-`. */
export const listSortValues = <Name extends string>(names: readonly Name[]): [Sort<Name>, ...Sort<Name>[]] =>
  names.flatMap((name): Sort<Name>[] => [name, `-${name}`]) as [Sort<Name>, ...Sort<Name>[]];

type SortName<SortValue extends string> = SortValue extends `-${infer Name}` ? Name : SortValue;

/** Returns the name and the direction of a `sort` value. */
export const parseSort = <Written extends string>(
  sort: Written,
): { readonly by: SortName<Written>; readonly direction: Direction } =>
  sort.startsWith('-')
    ? { by: sort.slice(1) as SortName<Written>, direction: 'descending' }
    : { by: sort as SortName<Written>, direction: 'ascending' };

/** Description of `sort` in the API. */
export const sortDescription = 'A leading - sorts descending';
