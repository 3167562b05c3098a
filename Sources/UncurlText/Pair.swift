/// A name and a value: a field, an argument, a cookie.
package struct Pair: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(name: String, value: String) { (self.name, self.value) = (name, value) }
}
