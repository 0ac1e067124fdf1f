/** A node of a {@link Treap}, with what it stands for in the classes made of it. */
export abstract class Branch<N> {
  left: N | undefined = undefined;
  right: N | undefined = undefined;

  /** `priority` follows from the item alone and looks random: the tree's form then depends only on what it holds. */
  constructor(readonly priority: number) {}
}

/**
 * Nodes in order, in a tree of logarithmic depth in which every node knows something of all that lie below it.
 *
 * It only keeps order and form; what a node gathers from its children is the business of the classes made of it.
 */
export abstract class Treap<N extends Branch<N>> implements Iterable<N> {
  root: N | undefined = undefined;
  size = 0;
  /** The nodes, from the root down, that the current operation changes; kept to spare an allocation each time. */
  private readonly path: N[] = [];

  /** A total order: zero means the same item, which then has the same priority. */
  protected abstract compare(x: N, y: N): number;

  /** Brings up to date what the node knows of itself and its children. */
  protected abstract gather(node: N): void;

  /** Adds the node; returns false, and changes nothing, if its like is there already. */
  insert(added: N): boolean {
    const { path } = this;
    path.length = 0;
    let node = this.root;
    while (node !== undefined) {
      const order = this.compare(added, node);
      if (order === 0) return false;
      if (node.priority < added.priority || (node.priority === added.priority && order < 0)) break;
      path.push(node);
      node = order < 0 ? node.left : node.right;
    }
    this.hang(path.at(-1), added, added);
    path.push(added);
    this.split(node, added);
    this.gatherPath();
    this.size += 1;
    return true;
  }

  /** Removes the node that is like this one; returns false if there is none. */
  remove(item: N): boolean {
    const { path } = this;
    path.length = 0;
    let node = this.root;
    for (; node !== undefined;) {
      const order = this.compare(item, node);
      if (order === 0) break;
      path.push(node);
      node = order < 0 ? node.left : node.right;
    }
    if (node === undefined) return false;
    this.merge(node);
    this.gatherPath();
    node.left = node.right = undefined;
    this.size -= 1;
    return true;
  }

  /** Brings up to date what is known of a node that has changed, and above it; its place in the order has not. */
  refresh(item: N): void {
    const { path } = this;
    path.length = 0;
    for (let node = this.root; node !== undefined;) {
      path.push(node);
      const order = this.compare(item, node);
      if (order === 0) break;
      node = order < 0 ? node.left : node.right;
    }
    this.gatherPath();
  }

  /** The smallest node. */
  first(): N | undefined {
    let node = this.root;
    while (node?.left !== undefined) node = node.left;
    return node;
  }

  /** The nodes in order; the tree must not change meanwhile. */
  *[Symbol.iterator](): Generator<N, void, undefined> {
    const above: N[] = [];
    let node = this.root;
    for (;;) {
      for (; node !== undefined; node = node.left) above.push(node);
      const next = above.pop();
      if (next === undefined) return;
      yield next;
      node = next.right;
    }
  }

  /** Puts the node below its parent, on the side where the item belongs. */
  private hang(parent: N | undefined, node: N | undefined, item: N): void {
    if (parent === undefined) this.root = node;
    else if (this.compare(item, parent) < 0) parent.left = node;
    else parent.right = node;
  }

  /** Divides the subtree by the added node, whose children the halves become. */
  private split(subtree: N | undefined, added: N): void {
    let smaller = added;
    let greater = added;
    let node = subtree;
    while (node !== undefined) {
      this.path.push(node);
      if (this.compare(added, node) < 0) {
        if (greater === added) added.right = node;
        else greater.left = node;
        greater = node;
        node = node.left;
      } else {
        if (smaller === added) added.left = node;
        else smaller.right = node;
        smaller = node;
        node = node.right;
      }
    }
    if (greater === added) added.right = undefined;
    else greater.left = undefined;
    if (smaller === added) added.left = undefined;
    else smaller.right = undefined;
  }

  /** Puts the two subtrees of the node in its place; where priorities are equal the smaller keys go up, as on insertion. */
  private merge(removed: N): void {
    const { path } = this;
    let { left, right } = removed;
    let parent = path.at(-1);
    let side: 'left' | 'right' | 'own' = 'own';
    const put = (child: N | undefined): void => {
      if (side === 'own' || parent === undefined) this.hang(parent, child, removed);
      else parent[side] = child;
    };
    while (left !== undefined && right !== undefined) {
      const goesUp: N = left.priority >= right.priority ? left : right;
      put(goesUp);
      path.push(goesUp);
      parent = goesUp;
      if (goesUp === left) {
        side = 'right';
        left = left.right;
      } else {
        side = 'left';
        right = right.left;
      }
    }
    put(left ?? right);
  }

  /** Each node after those below it. */
  private gatherPath(): void {
    for (let node = this.path.pop(); node !== undefined; node = this.path.pop()) this.gather(node);
  }
}
