/// The steps from a connected socket to a connection that HTTP can use, in their order.
enum RouteStep {
    /// TLS with `host`, on what is there.
    case secure(host: String)
}
