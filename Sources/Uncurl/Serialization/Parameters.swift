/// What a request is about, before it is a query, a form or a document.
public struct Parameters: Sendable {
}
