/// A process's part of a run that several processes make together, independently: number `index` of `count`, from 0.
package struct Shard: Hashable, Sendable {
    package let index: Int
    package let count: Int

    package static let whole = Shard(index: 0, count: 1)

    package init(index: Int, count: Int) { (self.index, self.count) = (index, count) }

    /// Returns a request's number among those of all parts: part p of n has the numbers p, p + n, p + 2n …
    ///
    /// - Parameter own: The request's number in this part, from 0.
    package func number(_ own: UInt64) -> UInt64 { own &* UInt64(count) &+ UInt64(index) }

    /// The place of request `number` in a list of `length`. In each round, all parts together take each place once. A
    /// part's places move on by one from round to round, so that each part takes every place in time.
    package func place(of number: UInt64, in length: UInt64) -> UInt64 {
        count == 1 ? number % length : (number &+ number / length) % length
    }

    package func part(of whole: Int) -> Int { Self.part(whole, index, of: count) }
    package func part(of whole: UInt64) -> UInt64 { Self.part(whole, UInt64(index), of: UInt64(count)) }

    /// Returns one of `parts` parts of a whole. The remainder goes to the first parts, one each.
    package static func part<Number: BinaryInteger>(_ whole: Number, _ index: Number, of parts: Number) -> Number {
        whole / parts + (index < whole % parts ? 1 : 0)
    }
}
