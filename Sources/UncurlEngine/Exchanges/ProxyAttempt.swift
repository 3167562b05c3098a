/// How often a proxy has refused a request because of its credentials, and those that it last carried.
struct ProxyAttempt {
    var sent: [UInt8]?
    var rounds = 0
}
