/// A name and a value: a field, an argument, a cookie.
package struct Pair: Hashable, Sendable {
    /// The name.
    package var name: String
    /// The value.
    package var value: String

    /// A value under a name.
    package init(name: String, value: String) { (self.name, self.value) = (name, value) }
}
