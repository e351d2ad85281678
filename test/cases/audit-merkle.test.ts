/** Merkle trees compared with published roots and proofs, and with every small tree. */
import test from 'ava';
import { GrowingTree, hashLeaf } from '../../api/groups/audit/chain/merkle.ts';
import {
  computeConsistencyRanges,
  computeInclusionRanges,
  computeInclusionRoot,
  computeRoots,
  isConsistent,
} from '../../api/groups/audit/chain/merkle-proofs.ts';

/** The eight leaves that implementations of RFC 6962 share in their tests, and the root after each leaf. */
const published: readonly (readonly [leaf: string, root: string])[] = [
  ['', '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d'],
  ['00', 'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125'],
  ['10', 'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77'],
  ['2021', 'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7'],
  ['3031', '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4'],
  ['40414243', '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef'],
  ['5051525354555657', 'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c'],
  ['606162636465666768696a6b6c6d6e6f', '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328'],
];

const leaves = published.map(([leaf]) => hashLeaf(Buffer.from(leaf, 'hex')));

async function* inOrder(of: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* of;
}

const treeOf = (of: readonly Buffer[]): GrowingTree => {
  const tree = new GrowingTree();
  for (const leaf of of) tree.append(leaf);
  return tree;
};

const hex = (hashes: readonly Buffer[]): string[] => hashes.map((hash) => hash.toString('hex'));

test('the root of zero leaves is the hash of the empty string', (t) => {
  t.is(treeOf([]).root().toString('hex'), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
});

for (const [index, [, root]] of published.entries()) {
  test(`the root of ${index + 1} leaves equals the published root`, (t) => {
    t.is(
      treeOf(leaves.slice(0, index + 1))
        .root()
        .toString('hex'),
      root,
    );
  });
}

const inclusion: readonly (readonly [index: number, size: number, proof: readonly string[]])[] = [
  [0, 1, []],
  [
    0,
    8,
    [
      '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
    ],
  ],
  [
    5,
    8,
    [
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ],
  ],
  [2, 3, ['fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125']],
  [
    1,
    5,
    [
      '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
    ],
  ],
];

for (const [index, size, proof] of inclusion) {
  test(`the proof of leaf ${index} in ${size} equals the published proof`, async (t) => {
    t.deepEqual(hex(await computeRoots(computeInclusionRanges(index, size), inOrder(leaves))), [...proof]);
  });
}

const consistency: readonly (readonly [older: number, newer: number, proof: readonly string[]])[] = [
  [1, 1, []],
  [
    1,
    8,
    [
      '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
    ],
  ],
  [
    6,
    8,
    [
      '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ],
  ],
  [
    2,
    5,
    [
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
    ],
  ],
];

for (const [older, newer, proof] of consistency) {
  test(`the consistency proof from ${older} leaves to ${newer} equals the published proof`, async (t) => {
    t.deepEqual(hex(await computeRoots(computeConsistencyRanges(older, newer), inOrder(leaves))), [...proof]);
  });
}

const many = Array.from({ length: 33 }, (_, index) => hashLeaf(Buffer.from(`leaf ${index}`)));
const flipped = (hash: Buffer): Buffer => Buffer.from(hash.map((byte, at) => (at === 7 ? byte ^ 1 : byte)));

test('every leaf of every tree up to 33 has a proof that is invalid for another leaf, index, size or node', async (t) => {
  for (let size = 1; size <= many.length; size++) {
    const root = treeOf(many.slice(0, size)).root();
    for (const [index, leaf] of many.slice(0, size).entries()) {
      const proof = await computeRoots(computeInclusionRanges(index, size), inOrder(many));
      const leadsTo = (at: number, of: number, from: Buffer, by: readonly Buffer[]): boolean =>
        computeInclusionRoot({ index: at, size: of }, from, by)?.equals(root) ?? false;
      t.true(leadsTo(index, size, leaf, proof));
      t.false(leadsTo(index, size, flipped(leaf), proof));
      t.false(leadsTo(index, size, leaf, [...proof, leaf]));
      t.false(leadsTo(size, size, leaf, proof));
      for (const [at, node] of proof.entries()) {
        t.false(leadsTo(index, size, leaf, proof.with(at, flipped(node))));
        t.false(leadsTo(index, size, leaf, proof.toSpliced(at, 1)));
      }
    }
  }
});

test('every tree up to 33 has a consistency proof to every larger tree, and no other tree does', async (t) => {
  for (let newer = 1; newer <= many.length; newer++) {
    for (let older = 1; older <= newer; older++) {
      const from = { size: older, root: treeOf(many.slice(0, older)).root() };
      const to = { size: newer, root: treeOf(many.slice(0, newer)).root() };
      const proof = await computeRoots(computeConsistencyRanges(older, newer), inOrder(many));
      t.true(isConsistent(from, to, proof), `${older} of ${newer}`);
      t.false(isConsistent({ ...from, root: flipped(from.root) }, to, proof));
      t.false(isConsistent(from, { ...to, root: flipped(to.root) }, proof));
      t.false(isConsistent(from, to, [...proof, from.root]));
      for (const [at, node] of proof.entries()) t.false(isConsistent(from, to, proof.with(at, flipped(node))));
    }
  }
});

test('a tree restored from its subtrees continues as if it had never been stored', (t) => {
  for (let size = 0; size < many.length; size++) {
    const tree = treeOf(many.slice(0, size));
    const again = new GrowingTree(tree.size, tree.subtrees);
    for (const leaf of many.slice(size)) again.append(leaf);
    t.deepEqual(again.root(), treeOf(many).root());
    t.is(tree.size, size);
  }
});
