/// A certificate and its key.
public struct ClientIdentity: Sendable {
    func install(in context: OwnedContext) throws(TLSError) {}
}
