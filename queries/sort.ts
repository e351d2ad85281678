/** Sort parameter of lists, everywhere the same: `sort=p95` ascending, `sort=-p95` descending. */
export type Direction = 'ascending' | 'descending';

type Sort<Name extends string> = Name | `-${Name}`;

/** Returns all sort values: each name, and each with a leading `-`. */
export const sortsOf = <Name extends string>(names: readonly Name[]): [Sort<Name>, ...Sort<Name>[]] =>
  names.flatMap((name): Sort<Name>[] => [name, `-${name}`]) as [Sort<Name>, ...Sort<Name>[]];

type By<Written extends string> = Written extends `-${infer Name}` ? Name : Written;

/** Returns the name and the direction of a `sort` value. */
export const sortOf = <Written extends string>(
  sort: Written,
): { readonly by: By<Written>; readonly direction: Direction } =>
  sort.startsWith('-')
    ? { by: sort.slice(1) as By<Written>, direction: 'descending' }
    : { by: sort as By<Written>, direction: 'ascending' };

/** Description of `sort` in the API. */
export const sortText = 'A leading - sorts descending';
